"""Credentials are found in many forms and languages; ordinary speech stays as it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engram_graph.rules import secret_patterns, secrets
from engram_graph.rules.secrets import (
    PLACEHOLDER,
    find_in_json,
    redact,
    redact_json,
    redact_values,
)

FOUND = [
    ("My password for the mill ledger is Quill9!Moth-Ferry, keep it safe.", "Quill9!Moth-Ferry"),
    ("Again: the password is Quill9!Moth-Ferry", "Quill9!Moth-Ferry"),
    ("The password of the mill ledger is Quill9!Moth-Ferry", "Quill9!Moth-Ferry"),
    ("The password's hunter2, ok?", "hunter2"),
    ("my password is swordfish", "swordfish"),
    ("My password is now swordfish.", "swordfish"),
    ("Password: hunter2", "hunter2"),
    ("password = hunter2", "hunter2"),
    ("password → hunter2", "hunter2"),
    ("Wi-Fi password: `two words`", "two words"),
    ('The password to the shed is "open sesame".', "open sesame"),
    ("I changed my password to Tr0ub4dor&3 yesterday", "Tr0ub4dor&3"),
    ("log in with password Tr0ub4dor&3", "Tr0ub4dor&3"),
    ("user ilka, pass Roggen8!Amsel", "Roggen8!Amsel"),
    ("hunter2 is my password", "hunter2"),
    ("use Tr0ub4dor&3 as the new password", "Tr0ub4dor&3"),
    ("my passphrase is correct horse battery staple", "correct horse battery staple"),
    ("PASSWORT: Sonne77", "Sonne77"),
    ("Mein Passwort ist Sonnenblume77!", "Sonnenblume77!"),
    ("Das Passwort für das WLAN lautet Sonne77", "Sonne77"),
    ("Mein Kennwort: geheimnis99", "geheimnis99"),
    ("Mon mot de passe est Lune42!", "Lune42"),
    ("Mi contraseña es Girasol88", "Girasol88"),
    ("La mia password è Girasole88", "Girasole88"),
    ("A minha senha é Girassol88", "Girassol88"),
    ("Mijn wachtwoord is Molen42x", "Molen42x"),
    ("Moje hasło to Mlyn42x", "Mlyn42x"),
    ("Мой пароль: Мельница42", "Мельница42"),
    ("Мой пароль — Мельница42", "Мельница42"),
    ("Mitt lösenord är Kvarn42x", "Kvarn42x"),
    ("我的密码是Mill4242", "Mill4242"),
    ("密码：Mill4242", "Mill4242"),
    ("パスワードはMill4242です", "Mill4242"),
    ("비밀번호는 Mill4242 입니다", "Mill4242"),
    ("Şifrem: Degirmen42", "Degirmen42"),
    ("My PIN is 4711.", "4711"),
    ("the PIN for my card is 4711", "4711"),
    ("The door code is 4711#", "4711#"),
    ("the gate code: 90210", "90210"),
    ("CVV 123", "123"),
    ("API_KEY=ek-7f3Kq9Zt2LmX8vBn4RcW6yPd works", "ek-7f3Kq9Zt2LmX8vBn4RcW6yPd"),
    ("The weighbridge key is ek-7f3Kq9Zt2LmX8vBn4RcW6yPd", "ek-7f3Kq9Zt2LmX8vBn4RcW6yPd"),
    ("export OPENAI_API_KEY='abc123def456'", "abc123def456"),
    ('{"api_key": "abc123def456"}', "abc123def456"),
    ("my api key: 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ("https://x.example/cb?token=abcdef&user=1", "abcdef"),
    ("the token is zK8fQ2mN7pL4", "zK8fQ2mN7pL4"),
    ("sk-proj-abcdefghij0123456789", "sk-proj-abcdefghij0123456789"),
    ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef_-123", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0"),
    ("It sits at postgres://keeper:Tern4Willow@db.example/ledger now.", "Tern4Willow"),
    ("redis://:p4ss@localhost:6379/0", "p4ss"),
    ("bolt://neo4j:a/b@c@host", "a/b@c"),
    ("Server=db;Uid=me;Pwd=Tern4Willow;", "Tern4Willow"),
    ("mysql --password hunter22 -u me", "hunter22"),
    ("The password is: Quill9!Moth-Ferry.", "Quill9!Moth-Ferry"),
    ("The password (for now) is Quill9!Moth", "Quill9!Moth"),
    ("Password:\nhunter2\n", "hunter2"),
    ("My password used to be moonbeam42 but I changed it", "moonbeam42"),
    ("log in with moonbeam42 as password", "moonbeam42"),
    ("my pass is moonbeam42", "moonbeam42"),
    ("user: bob pass: hunter2", "hunter2"),
    ("Das Passwort lautet: Sonnenblume", "Sonnenblume"),
    ("my pin code 1234", "1234"),
    ("passcode 998877", "998877"),
    ("the code for the door is 4711", "4711"),
    ("the combination of the safe is 12-34-56", "12-34-56"),
    ("Seed phrase: witch collapse practice feed shame open despair", "witch collapse"),
    ("curl -u bob:moonbeam42 https://x.example", "moonbeam42"),
    ("Charge the grain to card 4111 1111 1111 1111.", "4111 1111 1111 1111"),
    ("card 4111-1111-1111-1111", "4111-1111-1111-1111"),
    ("5500005555555559 is it", "5500005555555559"),
    ("order 12 4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEab/+\n-----END RSA PRIVATE KEY-----\nbye", "MIIEab"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn cut off", "b3Blbn"),
]


@pytest.mark.parametrize(("text", "secret"), FOUND)
def test_secret_is_removed(text: str, secret: str) -> None:
    clean, values = redact(text)
    assert secret not in clean
    assert PLACEHOLDER in clean
    assert any(secret in value or value in secret for value in values)
    assert redact(clean) == (clean, ())


ORDINARY = [
    "pass the butter, pass 2000 sheep, pass level-three",
    "I forgot my password again",
    "the password policy is strict",
    "The password is wrong.",
    "My password is too long to remember.",
    "the password is on the fridge",
    "The password for the wifi is kept by Anna.",
    "Is the password safe?",
    "I changed my password to something better.",
    "password: required",
    "the secret is patience",
    "The secret of good bread is time.",
    "The key is under the mat.",
    "Der Schlüssel ist weg.",
    "the key to happiness is sleep",
    "My token of thanks is small.",
    "a bearer of bad news",
    "She has a pin on her coat.",
    "my zip code is 90210",
    "the error code is 404",
    "Call me at 555 0100 2233.",
    "We met on 2024-03-04 at 10:30.",
    "The order number is 1234567890123.",
    "4111 1111 1111 1112 is no card.",
    "see https://example.org:8080/path?x=1",
    "api_key = os.environ['OPENAI_API_KEY']",
    "sorted(items, key=len)",
    "def login(password: str) -> None:",
    "Mein Passwort ist falsch.",
    "Mon mot de passe est trop long.",
    "I love my passport photo.",
    "The keyboard is great and the monkey is 4 years old.",
    "Passwords are annoying.",
    "My login is not working",
    "asthma runs in my family",
    "the password was leaked in 2019",
    "the password is 12 characters long",
    "My password manager is Bitwarden",
    "The secret ingredient is cinnamon",
    "PIN it on the wall",
    "token: a small gift",
    "basic training starts today",
    "I missed the bus pass: it was late.",
    "The combination of rain and wind is bad.",
    "My salary is 52000 euros.",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_speech_survives(text: str) -> None:
    assert redact(text) == (text, ())


def test_values_come_longest_first_and_vanish_everywhere() -> None:
    text = "pin 4711. The password is Quill9!Moth. I said Quill9!Moth, and 4711 but not 47110."
    clean, values = redact(text)
    assert values == ("Quill9!Moth", "4711")
    assert clean == (
        "pin (redacted). The password is (redacted). I said (redacted), and (redacted)"
        " but not 47110."
    )


def test_a_placeholder_in_the_text_hides_nothing() -> None:
    clean, _ = redact("password is hunter2(redacted) and password: (redacted)tail99")
    assert "hunter2" not in clean
    assert "tail99" not in clean


def test_card_is_removed_with_any_separators() -> None:
    text = "4111111111111111 and 4111-1111-1111-1111 and 94111111111111111"
    assert redact_values(text, ("4111 1111 1111 1111",)) == (
        "(redacted) and (redacted) and 94111111111111111"
    )


def test_json_is_cleaned_deep_and_in_keys() -> None:
    value: dict[str, Any] = {
        "raw": "the password is Quill9!Moth",
        "Quill9!Moth": [{"password": "swordfish"}, 4111111111111111, 7, None, True],
        "note": "token count",
        "tokens": 12,
    }
    clean = redact_json(value, ("Quill9!Moth",))
    assert clean == {
        "raw": "the password is (redacted)",
        "(redacted)": [{"password": "(redacted)"}, "(redacted)", 7, None, True],
        "note": "token count",
        "tokens": 12,
    }
    assert set(find_in_json(value)) == {"Quill9!Moth", "swordfish"}
    assert redact_json(clean) == clean


def test_every_pattern_has_a_bounded_width() -> None:
    """No match can run over more than a few thousand characters, so work grows with length only."""
    import re._parser as parser  # type: ignore[import-not-found]

    for pattern in secret_patterns.PATTERNS:
        _, widest = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE).getwidth()
        assert widest <= 20_000, pattern.pattern[:60]


@pytest.mark.parametrize(
    "unit",
    ["password ", "A", "A_KEY", "4 1 ", "1", "a:", "x://", "-----BEGIN PRIVATE KEY-----", "is my ",
     "password is is ", "key for ", "token token=", "(redacted)", "\u00e9", "eyJ"],
)  # fmt: skip
def test_one_megabyte_is_only_searched_a_fixed_number_of_times(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = 0
    plain = secrets._once

    def counted(text: str) -> tuple[str, ...]:
        nonlocal passes
        passes += 1
        return plain(text)

    monkeypatch.setattr(secrets, "_once", counted)
    redact(unit * (1_000_000 // len(unit)))
    assert passes <= 12


PARTS = st.sampled_from(
    ["password", "is", "PIN", ":", "=", " ", "hunter2", "4711", "(redacted)", "for the mill", ".",
     "4111 1111 1111 1111", "key", "Quill9!Moth", "\n", "token=", "x://u:", "p@h", "密码是", '"',
     "passphrase", "correct horse battery", "-----BEGIN PRIVATE KEY-----", "to", "my", "as", ","]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PARTS, max_size=14).map(" ".join)))
@example("password is password is hunter2")
@example("password: (redacted")
def test_redaction_is_idempotent_and_complete(text: str) -> None:
    clean, values = redact(text)
    assert redact(clean)[0] == clean
    assert list(values) == sorted(values, key=lambda value: (-len(value), value))
    for value in values:
        if len(value) >= 8:
            assert value not in clean.replace(PLACEHOLDER, "")


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abcdefghijkmnpqrstuvwxyz", min_size=3, max_size=8),
       st.integers(10, 99), st.sampled_from("!#$%&*"))  # fmt: skip
def test_any_mixed_password_is_found(word: str, number: int, sign: str) -> None:
    secret = f"{word.capitalize()}{number}{sign}Q"
    assert secret not in redact(f"The password for the boat is {secret}, thanks.")[0]


@pytest.mark.parametrize(
    "text",
    ["id 01a229f1-4539-1488-0343-6467ecd00000 of a request", "ratio 0.4539148803436467"],
)
def test_ids_and_decimals_are_no_cards(text: str) -> None:
    assert redact("card 4539 1488 0343 6467")[1]  # the same digits, on a card
    assert redact(text) == (text, ())
