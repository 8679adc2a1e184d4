"""Word lists of the pattern extractor: what may be owned, attended, suffered from, and so on."""

from __future__ import annotations

import re


def _any(words: str) -> str:
    return "(?:" + "|".join(re.escape(word) for word in words.replace("\n", " ").split()) + ")"


OWNABLE = _any(
    """dog cat puppy kitten rabbit bunny parrot budgie hamster horse pony tortoise turtle snake
    lizard fish aquarium guinea-pig goat hen chickens hens cow sheep donkey ferret car van bike
    bicycle motorbike motorcycle scooter truck boat sailboat kayak canoe caravan camper
    campervan house flat apartment cottage cabin allotment garden greenhouse farm studio piano
    guitar violin cello drum drums trumpet flute ukulele banjo accordion saxophone laptop computer
    phone smartphone tablet camera printer telescope drone turntable bookshop shop store bakery
    cafe restaurant loom kiln surfboard skateboard tent sewing-machine telescope iPhone iPad
    MacBook Tesla pets dogs cats"""
)
PETS = _any("dog cat puppy kitten rabbit parrot hamster horse pony tortoise dogs cats")
EVENTS = _any(
    """concert festival conference wedding workshop meetup party parade exhibition exhibit match
    ceremony retreat marathon race funeral seminar lecture hackathon fair gig opera rally reunion
    tournament convention summit course webinar graduation recital premiere protest vigil group
    show play screening auction regatta carnival panel symposium camp"""
)
CONDITIONS = (
    r"(?:type [12] diabetes|diabetes|asthma|migraines?|epilepsy|arthritis|anxiety|depression|adhd"
    r"|autism|celiac disease|coeliac disease|crohn's disease|eczema|psoriasis|insomnia|tinnitus"
    r"|high blood pressure|hypertension|anaemia|anemia|scoliosis|fibromyalgia|endometriosis"
    r"|dyslexia|hay fever|sleep apnea|sleep apnoea|lupus|ptsd|ibs|reflux|gout|glaucoma"
    r"|hypothyroidism|osteoporosis|a heart condition|a bad back|a bad knee|chronic \w+"
    r"|multiple sclerosis|cancer|\w+ cancer|\w+ intolerance)"
)
LANGUAGES = _any(
    """English German French Spanish Italian Portuguese Dutch Polish Russian Ukrainian Czech
    Slovak Hungarian Romanian Greek Turkish Arabic Hebrew Persian Farsi Hindi Urdu Bengali Tamil
    Telugu Thai Vietnamese Indonesian Malay Japanese Korean Chinese Mandarin Cantonese Swedish
    Danish Norwegian Finnish Icelandic Irish Welsh Catalan Basque Galician Serbian Croatian
    Slovenian Bulgarian Lithuanian Latvian Estonian Swahili Yoruba Zulu Afrikaans Latin Esperanto
    Tagalog Punjabi Marathi Gujarati Georgian Armenian Albanian"""
)
DIETS = (
    r"(?:vegan|vegetarian|pescatarian|flexitarian|keto(?:genic)?|paleo|gluten[- ]free|halal"
    r"|kosher|low[- ]carb|plant[- ]based|lactose[- ]free|dairy[- ]free|raw food|mediterranean"
    r"|carnivore|low[- ]fodmap)"
)
ROLES = (
    r"(?:nurse|teacher|doctor|engineer|developer|programmer|designer|architect|lawyer|accountant"
    r"|electrician|plumber|carpenter|baker|chef|cook|waiter|waitress|barista|pilot|driver|farmer"
    r"|gardener|journalist|writer|author|editor|translator|interpreter|musician|photographer"
    r"|painter|actor|actress|artist|scientist|researcher|physicist|chemist|biologist"
    r"|mathematician|economist|analyst|consultant|manager|director|producer|librarian|archivist"
    r"|curator|veterinarian|vet|dentist|surgeon|pharmacist|paramedic|midwife|physiotherapist"
    r"|therapist|psychologist|psychiatrist|counsell?or|social worker|police officer|firefighter"
    r"|soldier|sailor|mechanic|welder|machinist|tailor|hairdresser|barber|florist|butcher"
    r"|brewer|luthier|potter|weaver|student|apprentice|intern|professor|lecturer|postdoc|tutor"
    r"|coach|trainer|instructor|secretary|receptionist|assistant|administrator|clerk|cashier"
    r"|salesperson|salesman|recruiter|marketer|freelancer|entrepreneur|founder|CEO|CTO|CFO"
    r"|technician|supervisor|foreman|team lead(?:er)?|lead|head of [\w ]{2,30}|boss|conductor"
    r"|judge|diplomat|surveyor|geologist|statistician|data scientist|hydrologist|bookkeeper)"
)
KIN = (
    r"(?:sister|brother|mother|father|mum|mom|dad|daughter|son|aunt|uncle|cousin|niece|nephew"
    r"|grandmother|grandfather|grandma|grandpa|granddaughter|grandson|mother-in-law"
    r"|father-in-law|sister-in-law|brother-in-law|stepmother|stepfather|stepsister|stepbrother"
    r"|twin|half-sister|half-brother)"
)
SPOUSE = r"(?:wife|husband|spouse)"
PARTNER = r"(?:girlfriend|boyfriend|partner|fiancé|fiancée|fiance|fiancee)"
WORKMATE = r"(?:colleague|coworker|co-worker|workmate|boss|supervisor|office mate)"
GROUPS = _any(
    """choir band club team orchestra society association union league guild ensemble chorus
    committee co-op cooperative party church group crew squad quartet trio collective board"""
)
SPORTS = (
    r"(?:climbing|bouldering|running|jogging|swimming|sailing|rowing|kayaking|hiking|cycling"
    r"|fishing|skiing|snowboarding|surfing|dancing|camping|diving|birdwatching|skating"
    r"|horse riding|riding|bowling|foraging|paddleboarding)"
)
PLAYED = (
    r"(?:the )?(?:acoustic |electric |bass |classical )?(?:piano|guitar|violin|cello|drums?"
    r"|trumpet|flute|ukulele|banjo|accordion"
    r"|saxophone|clarinet|harp|bass|viola|oboe|chess|tennis|football|soccer|basketball|volleyball"
    r"|badminton|squash|golf|rugby|hockey|cricket|table tennis|handball|baseball|bridge|poker"
    r"|go|video games|board games|water polo|padel)"
)
# Capitalised words that open a sentence and are nobody's name.
NO_NAME = frozenset(
    """the this that these those it its he she they we you there here what who why how when where
    which yes no yeah nope ok okay oh wow well so and but or if then also thanks thank hey hi
    hello everyone everybody someone somebody nobody anyone people maybe perhaps today tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december life work time things
    something nothing everything just really sounds looks glad great good nice cool awesome sorry
    please let my your his her our their one another both each all some most many such still even
    now hope hopefully luckily sadly actually anyway besides mine yours kids mum mom dad i user
    assistant love happy no-one guess seems god being having""".split()  # noqa: SIM905
)
