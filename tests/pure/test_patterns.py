"""What the pattern extractor reads in plain sentences, and what it leaves alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_graph.adapters.patterns import drafts
from engram_graph.adapters.patterns_dates import take_date
from engram_graph.adapters.patterns_rules import RULES, TEXTS
from engram_graph.adapters.patterns_text import base_form
from engram_graph.models.facts import Draft, Message
from engram_graph.vocabulary import PREDICATES, Role, TemporalStatus

SAID = datetime(2025, 5, 14, 9, tzinfo=UTC)  # a Wednesday


def read(text: str, speaker: str = "Maya", role: Role = Role.USER) -> list[Draft]:
    return drafts(
        Message(
            id="m", namespace="n", conversation="c", speaker=speaker, role=role, text=text,
            said_at=SAID, recorded_at=SAID, source_id="s",
        )
    )  # fmt: skip


def short(draft: Draft) -> str:
    """``subject|predicate|object``, with signs: - negated, ? may be, > planned, < past."""
    sign = "-" if draft.negated else ""
    sign += {"planned": ">", "past": "<", "hypothetical": "?"}.get(draft.temporal_status, "")
    return f"{sign}{draft.subject}|{draft.predicate}|{draft.object}"


STATED = [
    ("I live in Lisbon now.", ["I|lives_in|Lisbon"]),
    ("i live in lisbon", ["I|lives_in|lisbon"]),
    ("I’ve been living in Graz.", ["I|lives_in|Graz"]),
    ("I moved to Porto with my dog.", ["I|lives_in|Porto"]),
    ("Just moved to Lisbon!", ["I|lives_in|Lisbon"]),
    ("We live in São Paulo.", ["I|lives_in|São Paulo"]),
    ("I moved back to Lisbon.", ["I|lives_in|Lisbon"]),
    ("I don't live in Lisbon any more.", ["-I|lives_in|Lisbon"]),
    ("I used to live in Oslo.", ["<I|lives_in|Oslo"]),
    ("I work at Hollin Press as a proofreader.",
     ["I|works_at|Hollin Press", "I|has_role|proofreader"]),
    ("I got a job at Dunmere Bakery.", ["I|works_at|Dunmere Bakery"]),
    ("I started at Saltway Freight.", ["I|works_at|Saltway Freight"]),
    ("I no longer work at Hollin Press.", ["-I|works_at|Hollin Press"]),
    ("I quit my job at Acme.", ["-I|works_at|Acme"]),
    ("I'm a nurse at St Mary's Hospital.", ["I|has_role|nurse", "I|works_at|St Mary's Hospital"]),
    ("I work as a bus driver.", ["I|has_role|bus driver"]),
    ("I was promoted to head of logistics.", ["I|has_role|head of logistics"]),
    ("I study physics at Oxford University.", ["I|studies_at|Oxford University"]),
    ("I'm married to Tom.", ["I|married_to|Tom"]),
    ("My wife is Clara.", ["I|married_to|Clara"]),
    ("Tom and I got married.", ["I|married_to|Tom"]),
    ("My girlfriend Anna lives in Vienna.", ["I|partner_of|Anna", "Anna|lives_in|Vienna"]),
    ("Tom and I broke up.", ["-I|partner_of|Tom"]),
    ("I'm vegan.", ["I|follows_diet|vegan"]),
    ("I follow a keto diet.", ["I|follows_diet|keto"]),
    ("I'm not vegan anymore.", ["-I|follows_diet|vegan"]),
    ("I joined the Harbour Choir.", ["I|member_of|the Harbour Choir"]),
    ("I quit Acme last month.", ["-I|works_at|Acme"]),
    ("I left the choir.", ["-I|member_of|choir"]),
    ("My sister is called Anna.", ["I|family_of|Anna"]),
    ("Paul is my brother.", ["I|family_of|Paul"]),
    ("My friend Tom moved to Oslo.", ["I|friend_of|Tom", "Tom|lives_in|Oslo"]),
    ("Lena is a friend of mine.", ["I|friend_of|Lena"]),
    ("My colleague Ruth is allergic to nuts.", ["I|colleague_of|Ruth", "Ruth|allergic_to|nuts"]),
    ("I have a dog and two cats.", ["I|owns|dog", "I|owns|two cats"]),
    ("I adopted a cat called Pico.", ["I|owns|cat Pico"]),
    ("I sold my car.", ["-I|owns|car"]),
    ("I use Obsidian for my notes.", ["I|uses|Obsidian"]),
    ("I switched to Linux.", ["I|uses|Linux"]),
    ("I love hiking and black coffee.", ["I|prefers|hiking", "I|prefers|black coffee"]),
    ("I prefer tea over coffee.", ["I|prefers|tea"]),
    ("My favourite colour is green.", ["I|prefers|green"]),
    ("I can't stand loud music.", ["I|dislikes|loud music"]),
    ("I don't like rain.", ["I|dislikes|rain"]),
    ("I don't like rain anymore.", ["-I|prefers|rain"]),
    ("I'm allergic to peanuts and shellfish.",
     ["I|allergic_to|peanuts", "I|allergic_to|shellfish"]),
    ("I'm allergic to animals with fur.", ["I|allergic_to|animals with fur"]),
    ("Hey Tom, I joined a travel club!", ["I|member_of|travel club"]),
    ("I found out I'm allergic to dust as well.", ["I|allergic_to|dust"]),
    ("I'm not allergic to walnuts.", ["-I|allergic_to|walnuts"]),
    ("I have asthma.", ["I|has_condition|asthma"]),
    ("I took up bouldering.", ["I|hobby|bouldering"]),
    ("I go climbing with Tom.", ["I|hobby|climbing"]),
    ("I stopped playing the violin.", ["-I|hobby|violin"]),
    ("I've taken up the violin again.", ["I|hobby|violin"]),
    ("I used to play the piano.", ["<I|hobby|piano"]),
    ("I usually have coffee at eight.", ["I|habit|have coffee at eight"]),
    ("Every morning I go for a run.", ["I|habit|go for a run every morning"]),
    ("I want to run a marathon.", ["I|goal|run a marathon"]),
    ("My goal is to learn Japanese.", ["I|goal|learn Japanese"]),
    ("I'm planning to move to Oslo next year.", [">I|plans|move to Oslo"]),
    ("I'm moving to Lisbon in June.", [">I|plans|move to Lisbon"]),
    ("I'm thinking of buying a boat.", [">I|plans|buy a boat"]),
    ("I'm going to Lisbon next week.", [">I|plans|go to Lisbon"]),
    ("I might move to Porto.", ["?I|plans|move to Porto"]),
    ("If I get the job, I'll move to Madrid.", ["?I|plans|move to Madrid"]),
    ("I went to a Fado concert last Friday.", ["I|attended|Fado concert"]),
    ("I speak German and Portuguese.", ["I|speaks|German", "I|speaks|Portuguese"]),
    ("I was born in Riga.", ["I|born_in|Riga"]),
    ("Anna moved to Porto and works at Bosch.", ["Anna|lives_in|Porto", "Anna|works_at|Bosch"]),
    ("I quit my job at Acme, and I started at Kelp Labs.",
     ["-I|works_at|Acme", "I|works_at|Kelp Labs"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), STATED)
def test_plain_sentences_are_read(text: str, expected: list[str]) -> None:
    assert [short(draft) for draft in read(text)] == expected


UNREAD = """
Do I live in Lisbon?
He said "I live in Rome".
I think I live in a simulation.
If I lived in Rome I would eat pasta every day.
Should I move to Oslo?
I wish I lived in Oslo.
I'd love to live in Spain.
I never lived in Oslo.
I almost moved to Oslo.
I'm a mess today.
I'm a huge fan of you.
I have a question about the meeting.
I work from home on Mondays.
I moved to the next question.
I love it!
I love the way you said it.
I want to know what you think.
I'm going to bed.
I went to the shop.
I started at nine.
I joined the call late.
I use it every day.
My sister is tired.
My friend said he lives in Rome.
Nobody lives in Antarctica.
Everyone loves Raymond.
Moments like that matter.
It's like a dream.
Paris is a nice city.
The password is (redacted).
I have no dog.
I left my keys at the office.
I gave up.
I can't stand up.
I hope to see you soon.
I play by the rules.
My favourite part is the ending.
So you live in Marrowby now.
She lives in Graz.
"""


@pytest.mark.parametrize("text", UNREAD.strip().splitlines())
def test_other_sentences_give_nothing(text: str) -> None:
    assert [short(draft) for draft in read(text)] == []


@pytest.mark.parametrize(
    ("before", "expected"),
    [("I work at Porto.", "works_at"), ("I moved to Porto.", "lives_in"), ("I like Porto.", None)],
)
def test_what_was_left_is_told_by_earlier_turns(before: str, expected: str | None) -> None:
    def turn(text: str) -> Message:
        return Message(
            id="m", namespace="n", conversation="c", speaker="Maya", role=Role.USER, text=text,
            said_at=SAID, recorded_at=SAID, source_id="s",
        )  # fmt: skip

    found = [(d.predicate, d.negated) for d in drafts(turn("I left Porto."), [turn(before)])]
    assert found == ([(expected, True)] if expected else [])


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.SYSTEM, Role.TOOL])
def test_only_people_state_facts(role: Role) -> None:
    assert read("I live in Lisbon.", "assistant", role) == []


DATED = [
    ("I moved to Lisbon yesterday.", "yesterday", "2025-05-13", None),
    ("I moved to Lisbon last week.", "last week", "2025-05-07", None),
    ("I moved to Lisbon in March.", "in March", "2025-03-01", None),
    ("In November I moved to Lisbon.", "In November", "2024-11-01", None),
    ("I moved to Lisbon in March 2024.", "in March 2024", "2024-03-01", None),
    ("I moved to Lisbon on 3 May.", "on 3 May", "2025-05-03", None),
    ("I moved to Lisbon on May 3rd, 2024.", "on May 3rd, 2024", "2024-05-03", None),
    ("I moved to Lisbon 3 days ago.", "3 days ago", "2025-05-11", None),
    ("I moved to Lisbon two weeks ago.", "two weeks ago", "2025-04-30", None),
    ("Last Friday, I moved to Lisbon.", "Last Friday", "2025-05-09", None),
    ("I moved to Lisbon last month.", "last month", "2025-04-01", None),
    ("I moved to Lisbon last Friday.", "last Friday", "2025-05-09", None),
    ("I have lived in Lisbon since 2019.", "since 2019", "2019-01-01", None),
    ("I've lived in Lisbon for three years.", "for three years", "2022-05-14", None),
    ("I lived in Lisbon from 2019 to 2022.", "from 2019 to 2022", "2019-01-01", "2022-01-01"),
    ("I lived in Lisbon between May 2019 and June 2021.",
     "between May 2019 and June 2021", "2019-05-01", "2021-06-01"),
    ("I lived in Lisbon until 2020.", None, None, "2020-01-01"),
    ("I live in Lisbon.", None, None, None),
    ("I lived in Lisbon for two years.", None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "when", "start", "end"), DATED)
def test_dates_count_from_the_message(
    text: str, when: str | None, start: str | None, end: str | None
) -> None:
    [draft] = read(text)
    assert (draft.predicate, draft.object) == ("lives_in", "Lisbon")
    assert draft.when == when
    assert draft.valid_from == (datetime.fromisoformat(f"{start}T00:00Z") if start else None)
    assert draft.valid_until == (datetime.fromisoformat(f"{end}T00:00Z") if end else None)
    past = end is not None or "lived in" in text.replace("have lived", "").replace("'ve lived", "")
    assert (draft.temporal_status is TemporalStatus.PAST) is past


def test_impossible_dates_are_no_dates() -> None:
    for text in ("on 31 February", "on 0 May", "999 years ago", "in 2024-13-45"):
        assert take_date(f"moved {text}", datetime(1, 1, 2, tzinfo=UTC)).start is None


def test_plans_keep_their_date_in_words_only() -> None:
    [draft] = read("I'm moving to Lisbon in June.")
    assert (draft.when, draft.valid_from) == (None, None)
    assert draft.text == "Maya plans to move to Lisbon in June"


def test_the_day_of_a_decision_is_no_day_of_the_plan() -> None:
    [draft] = read("Last week, I decided to run for office.")
    assert draft.text == "Maya plans to run for office"


@pytest.mark.parametrize(
    ("text", "speaker", "expected"),
    [
        ("I live in Lisbon.", "Maya", "Maya lives in Lisbon"),
        ("I live in Lisbon.", "user", "user lives in Lisbon"),
        ("I bought a new bike.", "Maya", "Maya has a bike"),
        ("I work as an editor.", "Maya", "Maya works as an editor"),
        ("I went to a concert yesterday.", "Maya", "Maya attended a concert yesterday"),
        ("I sold my car.", "Maya", "Maya no longer has car"),
        ("My favourite colour is green.", "Jo", "Jo's favourite colour is green"),
        ("My sister Anna moved out.", "Maya", "Anna is Maya's sister"),
        ("I want to sell my car.", "Maya", "Maya wants to sell their car"),
    ],
)
def test_texts_name_the_speaker(text: str, speaker: str, expected: str) -> None:
    assert [draft.text for draft in read(text, speaker)] == [expected]


def test_the_quote_is_the_sentence_as_written() -> None:
    text = "Well, hello!  I’m allergic to nuts… And I live in Graz (for now). Bye"
    assert [draft.quote for draft in read(text)] == [
        "I’m allergic to nuts…",
        "And I live in Graz (for now).",
    ]


def test_a_triple_is_given_once_per_message() -> None:
    assert len(read("I live in Graz. I live in Graz! I live in graz.")) == 1


def test_a_sentence_told_again_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from engram_graph.adapters import patterns_text

    looked_at: list[str] = []
    whole = patterns_text.plain
    monkeypatch.setattr(patterns_text, "plain", lambda text: looked_at.append(text) or whole(text))
    assert [short(d) for d in read("I live in Porto.\nNo news.\n" * 500)] == ["I|lives_in|Porto"]
    assert len(looked_at) < 10


def test_gerunds_become_plain_verbs() -> None:
    # fmt: off
    pairs = {"buying": "buy", "making": "make", "running": "run", "moving": "move", "going": "go",
             "visiting": "visit", "writing": "write", "teaching": "teach", "selling": "sell",
             "changing": "change", "bringing": "bring", "reading": "read", "eating": "eat"}
    # fmt: on
    assert {gerund: base_form(gerund) for gerund in pairs} == pairs


def test_nearly_every_predicate_has_a_pattern() -> None:
    assert {rule.predicate for rule in RULES} <= set(TEXTS) <= set(PREDICATES)
    people = {"family_of", "friend_of", "colleague_of"}
    assert set(PREDICATES) - set(TEXTS) - people == {"related_to"}


PIECES = st.sampled_from(
    ["I", "I'm", "live in", "Lisbon", "moved to", "and", ",", ".", "my", "sister", "Anna", "is",
     "a", "nurse", "at", "not", "anymore", "last week", "from 2019 to", "2022", "?", '"', "love",
     "the", "if", "might", "every morning", "going to", "Tom and I", "got married", "don't", "-"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=25).map(" ".join)))
def test_any_text_is_survived_and_quotes_are_found_in_it(text: str) -> None:
    for draft in read(text):
        assert draft.object.strip()
        assert len(draft.object) <= 160
        assert draft.quote is not None
        assert draft.quote in text
        assert draft.predicate in PREDICATES
        if draft.valid_from is not None:
            assert draft.valid_from <= SAID


@pytest.mark.parametrize("unit", ["I live in ", "a ", "A ", "I love a, b and ", "my my ", "every ",
                                  ",", "I'm ", "on 3 ", "no longer ", "''"])  # fmt: skip
def test_long_runs_do_not_stall(unit: str) -> None:
    read(unit * 300)
    read((unit * 55)[:590])


def test_a_long_message_is_read_whole() -> None:
    found = read("It rained all day. " * 2_000 + "I live in Lisbon.")
    assert [re.sub(r"\W", "", draft.object) for draft in found] == ["Lisbon"]
