"""The sentence patterns: what follows the subject of a clause, and the predicate it states.

Each rule is matched against a whole verb phrase ("moved to Lisbon") after contractions, adverbs,
dates and negations were taken out. Groups: ``o`` the object, ``role`` a job title on the side,
``org`` a place of work on the side.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engram_graph.adapters import patterns_words as words

HAVE = r"(?:have |has )?"
BE = r"(?:am|is|are)"
NAME = r"(?-i:[A-ZÀ-ÖØ-Þ][\w'’-]+(?: (?:van |de |von |da )?[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2})"
PROPER = r"(?-i:(?:the )?[A-ZÀ-ÖØ-Þ0-9])"
_ORG_LIKE = rf"(?:{PROPER}|(?:an?|the|my|our) )"


@dataclass(frozen=True, slots=True)
class Rule:
    """One sentence pattern.

    Attributes:
        shape: how the object is trimmed and checked: place, org, role, thing, name, act, word.
        negated: the verb itself says that it is over. past: it tells of an earlier time.
        deny: what "do not" makes of it: ``negated``, ``anymore`` (negated only with "any more"),
            ``dislikes`` or nothing at all.
        lists: "a, b and c" are several objects.
    """

    predicate: str
    pattern: re.Pattern[str] = field(compare=False)
    shape: str = "thing"
    negated: bool = False
    past: bool = False
    planned: bool = False
    deny: str = "negated"
    lists: bool = False
    maximum: int = 6


def _rule(predicate: str, pattern: str, shape: str = "thing", **more: object) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE)
    return Rule(predicate, compiled, shape, **more)  # type: ignore[arg-type]


_ROLE = rf"(?:(?!(?:big|huge|good|great|bad|better|terrible|real|bit|true|total|lucky|proud|happy|slow|fast|amazing|awesome|wonderful|natural|born)\b)[\w-]+ ){{0,2}}{words.ROLES}"  # noqa: E501
_AT_ORG = r"(?: (?:at|for|with) (?P<org>.+?))?"
_AS_ROLE = r"(?: as (?:an?|the|their)? ?(?P<role>.+?))?"
_OWN_NOUN = rf"(?:[\w-]+ ){{0,2}}{words.OWNABLE}"
_GROUP = (
    rf"(?:(?:the|an?|my|our|their) )?(?:[\w'&-]+ ){{0,4}}{words.GROUPS}(?: (?:of|in|for) [\w' -]+)?"
)
_NO_GOAL = r"(?!(?:thank|say|know|hear|show|make|tell|ask|see|share|let|be|help|give|keep|do|get|talk|add|check|hug|cry|go)\b)"  # noqa: E501
_NO_PLAN = (
    r"(?!(?-i:[A-Z])|(?:the|an?|my|our|his|her|bed|work|school|town|church|lunch|dinner|sleep)\b"
    r"|(?:be|have|do|get|need|miss|love|make sure|say|tell|let|keep|happen|give|try|check)\b)"
)

RULES: tuple[Rule, ...] = (
    # lives_in
    _rule("lives_in", rf"(?:lives?|reside[sd]?|{BE} living|{BE} based|{BE} settled"
                      rf"|{HAVE}been living"
          r"|(?:have|has) lived) (?:in|at|on) (?P<o>.+)", "place"),
    _rule("lives_in", r"lived in (?P<o>.+)", "place", past=True),
    _rule("lives_in", r"used to live in (?P<o>.+)", "place", past=True),
    _rule("lives_in", rf"{HAVE}(?:moved|relocated|moved back|moved house|returned)"
          r"(?: back| home| over| down| up| out| away)?(?: from [\w' ]+?)? to (?P<o>.+)", "place"),
    _rule("lives_in", rf"(?:{BE} back|{BE} back home|{HAVE}settled(?: down)?) in "
                      rf"(?P<o>.+)", "place"),
    _rule("lives_in", rf"{HAVE}moved (?:away from|out of) (?P<o>.+)", "place", negated=True),
    _rule("lives_in", r"stopped living in (?P<o>.+)", "place", negated=True),
    # works_at, has_role
    _rule("works_at", rf"(?:works?|{BE} working|{BE} employed|(?:have|has) been working"
          rf"|(?:have|has) worked)(?: full[- ]time| part[- ]time| remotely)? (?:at|for|with|by) "
          rf"(?P<o>{_ORG_LIKE}.+?){_AS_ROLE}", "org"),
    _rule("works_at", rf"(?:worked|used to work) (?:at|for) (?P<o>{_ORG_LIKE}.+?){_AS_ROLE}", "org",
          past=True),
    _rule("works_at", rf"{HAVE}(?:started|begun|began)(?: work| working| an? (?:new )?(?:job"
                      rf"|position"
          rf"|role)| my new job| my job)?(?: full[- ]time| part[- ]time)? (?:at|with|for) "
          rf"(?P<o>{_ORG_LIKE}.+?){_AS_ROLE}", "org"),
    _rule("works_at", rf"{HAVE}(?:started|begun|began|joined on)(?: work| working)? as "
          rf"(?:an?|the) (?P<role>.+?) (?:at|with|for) (?P<o>{_ORG_LIKE}.+)", "org"),
    _rule("works_at", rf"{HAVE}(?:got|landed|found|accepted|taken|took|have|has|scored) "
          rf"(?:an?|the|my) (?:new )?(?:job|position|role)(?: as (?:an? )?(?P<role>.+?))? "
          rf"(?:at|with) (?P<o>{_ORG_LIKE}.+)", "org"),
    _rule("works_at", rf"(?:was|were|got|have been|has been) hired (?:by|at) (?P<o>{_ORG_LIKE}.+?)"
          rf"{_AS_ROLE}", "org"),
    _rule("works_at", rf"{HAVE}(?:quit|left|lost|resigned from|quitted|given up|gave up) "
          rf"(?:my|his|her|the)(?: old)? (?:job|position|role) (?:at|with) (?P<o>.+)", "org",
          negated=True),
    _rule("works_at", rf"(?:{HAVE}(?:resigned|retired) from|(?:was|got) (?:laid off|fired) "
          rf"(?:from|by)|stopped working (?:at|for)) (?P<o>{_ORG_LIKE}.+)", "org", negated=True),
    _rule("has_role", rf"(?:{BE}|{HAVE}(?:become|been)|became) (?:an?|the) "
                      rf"(?P<o>{_ROLE}){_AT_ORG}", "role",
          deny="anymore"),
    _rule("has_role", rf"(?:was|were) (?:an?|the) (?P<o>{_ROLE}){_AT_ORG}", "role", past=True),
    _rule("has_role", rf"(?:works?|{BE} working|{HAVE}been working|started(?: working)?) as "
          rf"(?:an?|the) (?P<o>[\w' -]+?){_AT_ORG}", "role"),
    _rule("has_role", rf"(?:was|got|{HAVE}been|{BE} being) promoted to (?:an? |the )?"
                      rf"(?P<o>[\w' -]+?)"
          rf"{_AT_ORG}", "role"),
    # studies_at
    _rule("studies_at", rf"(?:study|studies|{BE} studying|{HAVE}been studying)(?: [\w -]+?)? at "
          rf"(?P<o>{PROPER}.+)", "org"),
    _rule("studies_at", rf"(?:{HAVE}(?:enrolled|started)|{BE} enrolled|{BE} a student) (?:at|in) "
          rf"(?P<o>(?:the )?[\w' ]*(?-i:University|College|School|Academy|Institute|Conservatory)"
          r"[\w' ]*)", "org"),
    _rule("studies_at", rf"(?:studied(?: [\w -]+?)? at|{HAVE}graduated from) "
                        rf"(?P<o>{PROPER}.+)", "org",
          past=True),
    # married_to, partner_of
    _rule("married_to", rf"(?:{BE} married to|{HAVE}(?:got|gotten) married to|{HAVE}married) "
          rf"(?P<o>{NAME})", "name"),
    _rule("married_to", rf"(?:{HAVE}divorced|{BE} divorced from|got divorced from|separated from) "
          rf"(?P<o>{NAME})", "name", negated=True),
    _rule("partner_of", rf"(?:{BE} (?:dating|going out with|engaged to|in a relationship with)"
          rf"|got engaged to|{HAVE}been dating) (?P<o>{NAME})", "name"),
    _rule("partner_of", rf"{HAVE}(?:broke|broken|split) up with "
                        rf"(?P<o>{NAME})", "name", negated=True),
    # follows_diet
    _rule("follows_diet", rf"(?:{BE}(?: going| back to being)?|went(?: back to being)?|became|eats?"
          rf"|{HAVE}(?:been|gone|become|turned)|turned)(?: an?| strictly| fully| mostly)? "
          rf"(?P<o>{words.DIETS})(?: person| food| for good)?", "word"),
    _rule("follows_diet", rf"(?:follows?|{BE} (?:on|following)|started|{HAVE}started|keeps?"
                          rf"|switched to"
          rf"|went on)(?: an?| the)?(?: strict)? (?P<o>{words.DIETS}) diet", "word"),
    _rule("follows_diet", rf"{HAVE}(?:stopped|quit|given up|gave up)(?: being| eating| following)?"
          rf"(?: an?| the)? (?P<o>{words.DIETS})(?: diet)?", "word", negated=True),
    # member_of
    _rule("member_of", rf"(?:{BE}|became|{HAVE}been) an?(?: \w+)? member of (?P<o>.+)", "org"),
    _rule("member_of", rf"{HAVE}joined (?P<o>{_GROUP}|(?-i:(?:the )?[A-Z][\w'&-]+"
                       rf"(?: [A-Z][\w'&-]+)+))",
          "org"),
    _rule("member_of", rf"(?:sings?|plays?|{BE} (?:singing|playing))(?: [\w ]+?)? (?:in|with|for) "
          rf"(?P<o>{_GROUP})", "org"),
    _rule("member_of", rf"{BE} in (?P<o>{_GROUP})", "org"),
    _rule("member_of", rf"{HAVE}(?:left|quit|dropped out of|stopped singing in|stopped playing in) "
          rf"(?P<o>{_GROUP})", "org", negated=True),
    # owns
    _rule("owns", r"owns? (?P<o>(?:an?|the|two|three|four|\d+|my) .+)", lists=True),
    _rule("owns", rf"(?:have|has|(?:have|has) got|{HAVE}got|got myself|{HAVE}inherited) "
          rf"(?P<o>(?:an?|two|three|four|\d+|my own)(?: new)? {_OWN_NOUN}"
          rf"(?:(?:,| and) (?:an?|two|three|four|\d+) {_OWN_NOUN})*(?: (?:called|named) {NAME})?)",
          lists=True),
    _rule("owns", rf"{HAVE}(?:bought|purchased)(?: myself| ourselves)? "
          rf"(?P<o>(?:an?|my(?: own| first)?|two|three)(?: new| used| second-hand)? {_OWN_NOUN}"
          rf"(?: in {PROPER}\w+)?)", deny=""),
    _rule("owns", rf"{HAVE}adopted (?P<o>(?:an?|two|three)(?: [\w-]+){{0,2}} {words.PETS}"
          rf"(?:,? (?:called|named) {NAME})?)", deny=""),
    _rule("owns", rf"{HAVE}(?:sold|gave away|given away|got rid of) (?:my|our|the|his|her)"
                  rf"(?: old)? "
          r"(?P<o>.+)", negated=True),
    # uses
    _rule("uses", rf"(?:uses?|{BE} using|(?:have|has) been using|{HAVE}started using) (?P<o>.+)",
          "tool", maximum=4),
    _rule("uses", rf"{HAVE}switched(?: over)?(?: from [\w' ]+)? to (?P<o>{PROPER}.+)", "tool",
          maximum=4),
    _rule("uses", rf"{HAVE}(?:stopped|quit) using (?P<o>.+)", "tool", negated=True, maximum=4),
    # health
    _rule("allergic_to", rf"{BE}(?: badly| severely| very| highly)? allergic to "
                         rf"(?P<o>.+)", "word", lists=True,
          maximum=4),
    _rule("allergic_to", r"(?:have|has)(?: got)? an?(?: bad| severe| serious)? "
                         r"(?P<o>[\w -]+?) allergy",
          maximum=3),
    _rule("has_condition", rf"(?:(?:have|has)(?: got| had)?|suffers? from|{HAVE}(?:developed"
                           rf"|got)|{BE} "
          rf"living with)(?: severe| mild| bad| chronic| an?)? (?P<o>{words.CONDITIONS})", "word",
          lists=True),
    _rule("has_condition", rf"(?:was|{HAVE}been|{BE}|got) diagnosed with (?:an? |severe |mild )?"
          r"(?P<o>[\w' -]+)", "word", maximum=4),
    # speaks, born_in
    _rule("speaks", rf"(?:speaks?|{BE} fluent in)(?: fluent| some| a little| a bit of)? "
          rf"(?P<o>{words.LANGUAGES}(?:(?:,| and|, and)(?: some| a little"
          rf"| a bit of)? {words.LANGUAGES})*)"
          r"(?: fluently| well| at home)?", "word", lists=True),
    _rule("born_in", r"(?:was|were) born(?: and raised)? in (?P<o>.+)", "place", deny=""),
    _rule("born_in", r"(?:come|comes) from (?P<o>.+) originally", "place", deny=""),
    # attended
    _rule("attended", rf"(?:{HAVE}attended|went to|{HAVE}been to|was at|were at|participated in"
          rf"|took part in) (?P<o>(?:an?|the|my|our|{PROPER})[\w'’&+ -]*?{words.EVENTS}"
          r"(?: (?:in|on|about|at|by) [\w' ]+)?)(?: (?:together|to|with|for|because|where|which"
          r"|that|this)\b.*)?", "event", deny="", maximum=8),
    _rule("attended", r"attended (?P<o>(?:an?|the) [\w'’& -]+)", "event", deny="", maximum=7),
    # hobby
    _rule("hobby", rf"{HAVE}(?:took|taken|picked) (?:up )?(?P<o>[\w' -]+?)(?: back)?(?: up)?"
                   rf"(?: again)",
          "hobby", deny="", maximum=4),
    _rule("hobby", rf"{HAVE}(?:taken|took|{BE} taking) up (?P<o>.+)", "hobby", deny="", maximum=4),
    _rule("hobby", rf"(?:go|goes|{BE} going|{HAVE}been going|went back to) (?P<o>{words.SPORTS})"
          r"(?: .+)?", "hobby", deny=""),
    _rule("hobby", rf"(?:plays?|{BE} playing|{BE} learning|{BE} back to playing|{HAVE}been playing"
          rf"|{HAVE}started(?: playing| learning)?|{BE} learning to play)(?: to play)? "
          rf"(?P<o>{words.PLAYED})(?: (?:again|with|in|on|at|for|once|when|since)\b.*)?", "hobby"),
    _rule("hobby", rf"(?:do|does|{BE} doing|{HAVE}started(?: doing)?|practi[sc]es?|{BE} into) "
          r"(?P<o>yoga|pilates|karate|judo|pottery|ceramics|woodworking|calligraphy|aikido"
          r"|photography|embroidery|knitting|origami|tai chi|painting|martial arts|crossfit"
          rf"|{words.SPORTS})", "hobby", deny="anymore"),
    _rule("hobby", rf"enjoys? (?P<o>(?:playing |doing )?(?:\w+ing|{words.PLAYED}|yoga|pottery)"
          r"(?: [\w -]+)?)", "hobby", lists=True, maximum=4),
    _rule("hobby", rf"used to play (?P<o>{words.PLAYED})", "hobby", past=True),
    _rule("hobby", rf"{HAVE}(?:stopped|quit|given up|gave up) (?P<o>(?:playing |doing |learning )?"
          rf"(?:{words.PLAYED}|{words.SPORTS}|yoga|pottery|painting|knitting|photography|chess"
          rf"|karate"
          r"|judo|ceramics|pilates|singing))", "hobby", negated=True),
    _rule("habit", rf"{HAVE}(?:stopped|quit|given up|gave up) (?P<o>smoking|drinking(?: \w+)?"
                   rf"|coffee"
          r"|alcohol|sugar|meat|eating [\w ]+)", negated=True),
    # likes and dislikes
    _rule("dislikes", rf"(?:hates?|dislikes?|cannot stand(?! (?:up|still|here|there|in)\b)"
                      rf"|detests?|cannot bear|{BE} not a fan of"
          r"|loathes?) (?P<o>.+)", "taste", lists=True, maximum=5, deny="negated"),
    _rule("prefers", r"prefers? (?P<o>.+?)(?: (?:to|over|rather than) .+)?", "taste", maximum=5,
          deny=""),
    _rule("prefers", rf"(?:loves?|likes?|adores?|{BE} (?:an?|such an?)(?: big| huge)? fan of"
          rf"|{BE} fond of|{BE} crazy about) (?P<o>.+)", "taste", lists=True, maximum=5,
          deny="dislikes"),
    # goals and plans
    _rule("goal", rf"(?:wants?|hopes?|dreams? of|{BE} hoping|{BE} determined) (?:to )?"
          rf"(?P<o>(?<=to ){_NO_GOAL}.+|(?<=of )\w+ing .+)", "act", deny="anymore", maximum=10),
    _rule("plans", rf"(?:{BE} (?:planning|going|about|intending|set)|plans?|intends?|decided"
          rf"|{HAVE}decided) to {_NO_PLAN}(?P<o>.+)", "act", planned=True, maximum=10),
    _rule("plans", rf"(?:{BE} (?:planning on|thinking of|thinking about|considering)|plans? on) "
          rf"(?P<o>\w+ing .+|\w+ing)", "act", planned=True, maximum=10),
)  # fmt: skip

# "My …" sentences: (predicate, pattern, form of the text, shape).
MY: tuple[tuple[str, re.Pattern[str], str, str], ...] = tuple(
    (predicate, re.compile(pattern, re.IGNORECASE), text, shape)
    for predicate, pattern, text, shape in (
        ("prefers", r"my (?:all-time )?favou?rite (?P<what>(?!one|part|thing|time)[\w-]+"
                    r"(?: [\w-]+){0,2}?) (?:is|are) (?P<o>.+)",
         "{s}'s favourite {what} is {o}", "taste"),
        ("goal", r"my (?:main |big |biggest )?(?:goal|dream|aim|ambition)(?: \w+ [\w ]+?)? is to "
         r"(?P<o>.+)", "{s} wants to {o}", "act"),
        ("plans", r"my plan is to (?P<o>.+)", "{s} plans to {o}", "act"),
        ("hobby", r"my (?:main |new |favou?rite )?(?:hobby is|hobbies are) (?P<o>.+)",
         "{s}'s hobby is {o}", "hobby"),
        ("has_role", r"my (?:new |current )?(?:job title|role|title|profession) is (?:an? |the )?"
         r"(?P<o>.+)", "{s} is a {o}", "role"),
        ("works_at", rf"my (?:new |current )?employer is "
                     rf"(?P<o>{PROPER}.+)", "{s} works at {o}", "org"),
        ("speaks", rf"my (?:native language|mother tongue|first language) is "
                   rf"(?P<o>{words.LANGUAGES})",
         "{s} speaks {o}", "word"),
        ("owns", rf"my (?P<o>{words.PETS}(?: is called| is named|'s name is|'s called) {NAME})",
         "{s} has a {o}", "thing"),
        ("owns", rf"my (?P<o>{words.PETS} {NAME})(?: .+)?", "{s} has a {o}", "thing"),
        ("allergic_to", r"my (?P<o>[\w]+) allergy .*", "{s} is allergic to {o}", "thing"),
    )
)  # fmt: skip

PEOPLE: tuple[tuple[str, str, str], ...] = (
    ("family_of", words.KIN, "{o} is {s}'s {kin}"),
    ("married_to", words.SPOUSE, "{o} is {s}'s {kin}"),
    ("partner_of", words.PARTNER, "{o} is {s}'s {kin}"),
    ("friend_of", r"(?:(?:best|good|old|close|dear|childhood) )?friend", "{o} is {s}'s {kin}"),
    ("colleague_of", words.WORKMATE, "{o} is {s}'s {kin}"),
)
_ADJ = r"(?:(?:older|younger|little|big|elder|eldest|youngest|oldest|twin|new|former) )?"
MY_PERSON = tuple(
    (
        predicate,
        text,
        re.compile(
            rf"my {_ADJ}(?P<kin>{kin})(?:(?: is called| is named|'s name is|'s called| is),? |,? )"
            rf"(?P<o>{NAME})(?P<rest>,? .+)?",
            re.IGNORECASE,
        ),
        re.compile(
            rf"(?P<o>{NAME})(?: is|, who is|,) (?:my|one of my|an?) {_ADJ}(?P<kin>{kin})s?"
            r"(?P<mine> of mine)?(?P<rest>,? .+)?",
            re.IGNORECASE,
        ),
    )
    for predicate, kin, text in PEOPLE
)

# How each predicate reads: holds, does not hold (any more), held once.
TEXTS: dict[str, tuple[str, str, str]] = {
    "lives_in": ("lives in {o}", "no longer lives in {o}", "lived in {o}"),
    "born_in": ("was born in {o}", "was not born in {o}", "was born in {o}"),
    "works_at": ("works at {o}", "no longer works at {o}", "worked at {o}"),
    "has_role": ("works as {o}", "no longer works as {o}", "worked as {o}"),
    "studies_at": ("studies at {o}", "no longer studies at {o}", "studied at {o}"),
    "married_to": ("is married to {o}", "is no longer married to {o}", "was married to {o}"),
    "partner_of": ("is the partner of {o}", "is no longer the partner of {o}",
                   "was the partner of {o}"),
    "follows_diet": ("follows a {o} diet", "no longer follows a {o} diet",
                     "followed a {o} diet"),
    "member_of": ("is a member of {o}", "is no longer a member of {o}", "was a member of {o}"),
    "owns": ("has {o}", "no longer has {o}", "had {o}"),
    "uses": ("uses {o}", "no longer uses {o}", "used {o}"),
    "prefers": ("likes {o}", "no longer likes {o}", "liked {o}"),
    "dislikes": ("dislikes {o}", "no longer dislikes {o}", "disliked {o}"),
    "allergic_to": ("is allergic to {o}", "is not allergic to {o}", "was allergic to {o}"),
    "has_condition": ("has {o}", "does not have {o}", "had {o}"),
    "hobby": ("has {o} as a hobby", "no longer has {o} as a hobby", "had {o} as a hobby"),
    "habit": ("has a habit: {o}", "gave up {o}", "had a habit: {o}"),
    "goal": ("wants to {o}", "no longer wants to {o}", "wanted to {o}"),
    "plans": ("plans to {o}", "no longer plans to {o}", "planned to {o}"),
    "attended": ("attended {o}", "did not attend {o}", "attended {o}"),
    "speaks": ("speaks {o}", "does not speak {o}", "spoke {o}"),
}  # fmt: skip
