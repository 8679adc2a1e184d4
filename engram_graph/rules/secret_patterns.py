"""The tables behind ``secrets``: hint words of many languages, shapes of keys, everyday words.

Every pattern has a bounded width (a test reads them all).
"""

from __future__ import annotations

import re

# Words after which a value is a secret even if it is a plain word.
_STRONG = (
    r"passwords?|passwd|passcodes?|pass ?phrases?|pwd|pw|wpa2? key|master password"
    r"|passwort|kennwort|passwörter|mot de passe|mdp|code secret|contraseña|contrasena|clave"
    r"|parola d'ordine|parola d’ordine|senha|palavra-passe|wachtwoord|hasło|haslo|пароль|пароля"
    r"|lösenord(?:et)?|adgangskode(?:n)?|kodeord(?:et)?|passord(?:et)?|salasana(?:ni)?|heslo"
    r"|şifre(?:m|si)?|jelszó|jelszava(?:m)?|κωδικός|पासवर्ड|mật khẩu|kata sandi|parola"
    r"|(?:seed|recovery|secret|backup) phrase|mnemonic(?: phrase)?"
    r"|كلمة المرور|كلمة السر|סיסמה|הסיסמה|รหัสผ่าน"
)
_PIN = (
    r"pin[ -]?(?:code|number)|pin|combination|code (?:for|to|of) (?:the |my |our |your )?"
    r"(?:front |back |main )?(?:door|gate|alarm|safe|lock|locker|garage|house|flat|building"
    r"|entrance|card|phone|sim|shed|vault|account)|cvv2?|cvc2?|security code|geheimzahl"
    r"|(?:door|gate|alarm|access|entry|unlock|safe|lock|garage|keypad|vault|verification|login"
    r"|backup|recovery|secret|one[- ]time)[ -]?(?:code|number|combination)|otp"
)
# Words that are everyday language: the value must itself look like a credential.
_WEAK = (
    r"secrets?|keys?|api[ _-]?keys?|tokens?|credentials?|logins?|code|schlüssel|clé|chiave|chave"
    r"|ключ|токен|密钥|access[ _-]?keys?|licen[cs]e key|signing key"
)
_COPULA = (
    r"is|was|are|will be|should be|must be|used to be|became|remains|equals|ist|war|lautet"
    r"|lautete|est|était|es|era|será|è|é"
    r"|sarà|to|brzmi|jest|är|er|on|je|là|adalah|este|είναι|है|هي|هو|היא|это|คือ"
)
_GAP = (
    r"(?:[ \t]{0,8},?[ \t]{1,8}(?:for|to|of|on|at|in|from|by|für|vom|von|zum|zur|beim|fürs|im"
    r"|am|der|des|pour|du|de|par|para|del|do|da|di|per|voor|van|do|dla|от|для|к)"
    r"[ \t][^.!?;:\n=]{1,60}?)?"
)
_LINK = (
    r"(?:[ \t]{1,8}\([^)\n]{1,40}\))?"
    r"(?:[ \t]{0,8}(?:=>|->|→|[:=：—–])\s{0,8}"
    rf"|(?:[ \t]{{1,8}}(?:{_COPULA})|['’]s)(?:[ \t]{{0,8}}[:：])?\s{{1,8}}"
    r"(?:(?:now|still|just|currently|again|jetzt|noch|simply|literally)[ \t]{1,8})?"
    r"|\?[ \t]{1,8}(?:it['’]s|it is)[ \t]{1,8}|[ \t]{1,8}-[ \t]{1,8})"
)
_VALUE = r"(?P<value>[\"“„«「][^\"”“»」\n]{1,100}[\"”“»」]|[`'‘][^`'’\n]{1,100}[`'’]|\S{1,256})"
_WORD = r"(?<![^\W_])"

SPOKEN = tuple(
    (grade, re.compile(rf"{_WORD}(?:{words}){_GAP}{_LINK}{_VALUE}", re.IGNORECASE))
    for grade, words in (("strong", _STRONG), ("pin", _PIN), ("weak", _WEAK), ("look", "pass"))
)
BESIDE = tuple(
    (grade, re.compile(rf"{_WORD}(?:{words})[ \t]{{1,4}}{_VALUE}", re.IGNORECASE))
    for grade, words in (
        ("look", _STRONG),
        ("pin", _PIN),
        ("weak", r"api[ _-]?key|token|bearer|pass"),
    )
)
CHANGED = re.compile(
    r"(?<!\w)(?:set|changed?|reset|updated?|made|switch(?:ed)?)[ \t]{1,8}"
    r"(?:[^\s.!?]{1,20}[ \t]{1,8}){0,4}"
    rf"(?:{_STRONG}|pin){_GAP}[ \t]{{1,8}}(?:to|as)[ \t]{{1,8}}(?:be[ \t]{{1,8}})?{_VALUE}",
    re.IGNORECASE,
)
BEFORE = re.compile(
    r"(?<!\S)(?P<value>\S{4,100})[ \t]{1,8}(?:is|as|was|ist|est|es)[ \t]{1,8}"
    r"(?:(?:my|the|our|his|her|their|a|mein|das|mon|le|mi|la)[ \t]{1,8})?"
    r"(?:[^\s.!?]{1,20}[ \t]{1,8}){0,2}"
    rf"(?:{_STRONG}|pin|api[ _-]?key|token)(?!\w)",
    re.IGNORECASE,
)
CJK = re.compile(
    r"(?:密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|패스워드)[^\n。.!?！？!-~]{0,20}?"
    r"(?:是|为|為|は|が|는|은|이|가|：|:|=)[ \t]{0,8}[「\"'“]?(?P<value>[!-~]{3,100})"
)
ASSIGNED = re.compile(
    r"(?<![A-Za-z0-9_-])(?:--)?[A-Za-z0-9_.-]{0,40}"
    r"(?:api[_-]?key|apikey|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key|_key"
    r"|token|secret|password|passwd|passphrase|pwd|credential|auth)[A-Za-z0-9_]{0,20}"
    r"[\"']?[ \t]{0,3}(?:=|:(?!//))[ \t]{0,3}[\"']?(?P<value>[^\s\"'&;,<>]{3,512})",
    re.IGNORECASE,
)
FLAG = re.compile(
    r"(?<!\S)(?:--(?:password|passwd|token|api-key|secret)[ =]|-u[ \t]{1,4}[^\s:]{1,64}:)"
    r"(?P<value>\S{3,256})"
)
URL = re.compile(
    r"(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:"
    r"(?P<value>[^\s/]{1,200}(?=@)|[^\s@]{1,200}(?=@))",
    re.IGNORECASE,
)
HEADER = re.compile(
    r"(?<!\w)(?:bearer|basic)[ \t]{1,8}(?P<value>[\w.~+/=-]{8,4096})", re.IGNORECASE
)
JWT = re.compile(r"(?<![\w-])(?P<value>eyJ[\w-]{8,4096}\.[\w-]{4,8192}\.?[\w-]{0,1024})(?![\w-])")
PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?P<value>(?:sk|pk|rk|ek|ak)[-_][A-Za-z0-9_-]{16,256}"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[\w-]{16,64}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,255}|(?:AKIA|ASIA|AROA)[A-Z0-9]{16}|AIza[\w-]{30,40}"
    r"|ya29\.[\w-]{20,512}|npm_[A-Za-z0-9]{30,40}|pypi-[\w-]{30,512}|hf_[A-Za-z0-9]{20,64}"
    r"|dop_v1_[a-f0-9]{40,80}|SG\.[\w-]{16,32}\.[\w-]{16,64}|whsec_[A-Za-z0-9+/=]{16,128}"
    r"|shp(?:at|ca|pa|ss)_[a-f0-9]{24,64}|nvapi-[\w-]{20,128}|gsk_[A-Za-z0-9]{20,128}"
    r"|xai-[\w-]{20,128}|r8_[A-Za-z0-9]{20,64}|lin_api_[A-Za-z0-9]{20,64}|jv?1-[A-Za-z0-9]{24,64}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{40,80})(?![A-Za-z0-9])"
)
DIGITS = re.compile(r"(?<!\d)[0-9](?:[ \u00a0.\u2010\u2011-]?[0-9]){12,47}(?![0-9])")
# Random digits that may pass a card's check sum: ids, and the decimals of a computed number.
NO_CARD = re.compile(
    r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9]{1,3}\.[0-9]{10,40}\b"
)
KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
PATTERNS = (
    *(p for _, p in SPOKEN),
    *(p for _, p in BESIDE),
    *(CHANGED, BEFORE, CJK, ASSIGNED, FLAG, URL, HEADER, JWT, PREFIXED, DIGITS, NO_CARD),
    *(KEY_BEGIN, KEY_END),
)


# A text without any of these has no hint word; looking for them first is twenty times cheaper.
_STEMS = """
    pass pwd pw wpa kennwort mot.de mdp code contrase clave parola senha palavra wachtwoord hasło
    haslo парол lösenord kode salasana heslo şifre jelsz κωδικ पासवर्ड mật.kh kata.sandi كلمة סיסמה
    รหัส phrase mnemonic pin cvv cvc combination geheimzahl number otp secret key token credential
    login schlüssel clé chiave chave ключ токен 密钥 bearer
"""
STEMS = tuple(stem.replace(".", " ") for stem in _STEMS.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What may follow "the password is …" in ordinary speech.
ORDINARY = _words(
    "a an the my your our his her their its this that these those it not no never too very so quite"
    " really always only also already still just now here there what why how who when where which"
    " on in at of for to from by with under behind inside after before near like as if because and"
    " or but than then again wrong right strict weak strong safe secure secret private public lost"
    " gone old new same different long short easy hard simple complex complicated incorrect correct"
    " invalid valid expired required needed missing empty changed reset stored saved kept written"
    " hidden shared known unknown forgotten compromised leaked stolen fine ok okay good bad great"
    " terrible important case-sensitive something anything nothing everything none null true false"
    " undefined optional mandatory broken working protected encrypted hashed updated set about up"
    " due being going getting coming patience one two three ready unique random default boring"
    " silly stupid ridiculous redacted sicher falsch richtig lang kurz weg neu alt nicht zu sehr"
    " ein eine der die das geheim abgelaufen vergessen schwach stark pas trop très le la les un une"
    " faux correcte incorrect incorrecte perdu oublié sécurisé nouveau no muy demasiado una el"
    " segura correcta incorrecta nueva larga olvidada non troppo molto il lo sbagliata sicura"
    " nuova não muito o uma errada forte fraca nova niet te veel een het veilig fout verlopen nie"
    " za bardzo złe dobre silne не слишком очень неверный старый новый надежный неправильный"
    " inte för ett ikke et ei on entry field manager policy prompt box self"
)
GLUE = _words(
    "a an the my your our his her their its this that it not no never too very so is are was for"
    " to of on in at and or but i you we they be been kept stored something than"
)
HINTS = _words(
    "password passwords passwd passcode passphrase pwd pw pin token secret key keys login username"
    " user auth passwort kennwort contraseña senha wachtwoord hasło пароль credential credentials"
    " str int bytes none null true false redacted string secretstr api_key apikey"
)
CODE = re.compile(
    r"^(?:os\.|env\.|process\.env|getenv|self\.|settings\.|[$%{<*]|\*{3}|x{4,}|\.{3})"
)

TAIL = ".,;:!?)]}\"'`”’»」。，！？…"
HEAD = "([{\"'`“‘„«「"
CLAUSE_END = re.compile(
    r"[\"'”’)\]]?(?:[ \t]{0,8}(?:[.,;!?)\n]|$)"
    r"|[ \t]{1,8}(?:and|but|so|for|keep|don't|please|thanks|und|et|y|e|en|i|и)(?!\w))"
)
