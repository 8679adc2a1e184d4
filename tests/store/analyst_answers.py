"""What each query of the library answers about the town of ``analyst_world``, by hand.

A case has the query's parameters and some of its columns; moments stand as their day, and numbers
with four digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RELATION = "relation_to_candidate"
HOLLIN, SALTWAY = "Mirelle works at Hollin Press", "Mirelle works at Saltway Freight"
DRIVES, MARKETS = "Mirelle drives for Saltway Freight", "Mirelle likes markets"
CROWDS, NIGHT = "Mirelle cannot stand crowds", "Mirelle likes night markets"
FRIEND, KERN = "Bero is a friend of Mirelle", "Odo Kern is a friend of Bero"
STALL, MOVE = "Mirelle plans to open a stall", "Mirelle plans to move to Varn"
VARN, OLDMILL, TARN = "Mirelle lives in Varn", "Bero lives in Oldmill", "Bero lives in Tarn"
MAPS, SAFE, CART = "Odo sells maps", "Odo opens the safe with (redacted)", "Odo owns a cart"
PLAYS, NO_LONGER = "Bero plays chess", "Bero no longer plays chess"
STILL, FAIR = "Bero still plays chess", "Odo was at the spring fair"
LUND, LUNDE = "Odo was born in Lund", "Odo was born in Lunde"
BERO_WELSH, BEROLD_WELSH = "Bero speaks Welsh", "Berold speaks Welsh"


@dataclass(frozen=True)
class Case:
    """Rows of ``columns`` (blank-separated) that ``query`` gives with ``params``.

    ``first`` and ``done`` as values stand for the town's moments.
    """

    query: str
    params: dict[str, Any]
    columns: str
    rows: list[tuple[Any, ...]]


CASES: tuple[Case, ...] = (
    Case(
        "belief_over_time",
        {"subject": "Mirelle", "predicate": "works_at"},
        "fact belief_before belief_after question answer probabilities because_of",
        [
            (HOLLIN, None, 0.98, "belief_start", "sure", [], None),
            (HOLLIN, 0.98, 0.0448, "relation_to_candidate", "update", [0.97, 0.97], SALTWAY),
            (SALTWAY, None, 0.97, "belief_start", "sure", [], None),
            (SALTWAY, 0.97, 0.98, "relation_to_candidate", "update", [0.97, 0.97], HOLLIN),
            (SALTWAY, 0.98, 0.98, "relation_to_candidate", "duplicate", [0.9], DRIVES),
            (DRIVES, None, 0.9, "belief_start", "sure", [], None),
        ],
    ),
    Case(
        "belief_over_time",
        {"subject": "bero"},
        "fact belief_after answer",
        [
            (PLAYS, 0.97, "sure"),
            (PLAYS, 0.1965, "negates"),
            (PLAYS, 0.8877, "duplicate"),
            (STILL, 0.97, "sure"),
            (BEROLD_WELSH, 0.97, "sure"),
            (BERO_WELSH, 0.97, "sure"),
            (FRIEND, 0.97, "sure"),
            (NO_LONGER, 0.92, "sure"),
            (NO_LONGER, 0.98, "negates"),
            (OLDMILL, 0.97, "sure"),
            (OLDMILL, 0.4193, "update"),
            (TARN, 0.87, "sure"),
            (TARN, 0.98, "update"),
        ],
    ),
    Case(
        "blocked_changes",
        {},
        "outcome answer p fact compared_with told_by",
        [
            ("same_source", "duplicate", 1.0, SALTWAY, None, ["Bero", "Mirelle"]),
            ("same_source", "refinement", 0.95, NIGHT, MARKETS, ["Mirelle"]),
            ("blocked_structure", "contradiction", 0.9, CROWDS, MARKETS, ["Odo"]),
        ],
    ),
    Case(
        "blocked_changes",
        {"outcome": "blocked_structure"},
        "fact compared_with reason",
        [(CROWDS, MARKETS, None)],
    ),
    Case(
        "calibration_data",
        {},
        "question answer p probabilities outcome later fact compared_with",
        [
            (
                *("relation_to_candidate", "update", 0.97, [0.97, 0.97], "applied"),
                *("closed", SALTWAY, HOLLIN),
            ),
            (
                *("relation_to_candidate", "duplicate", 0.9, [0.9], "applied"),
                *(None, DRIVES, SALTWAY),
            ),
            (
                *("relation_to_candidate", "contradiction", 0.9, [], "blocked_structure"),
                *(None, CROWDS, MARKETS),
            ),
            (
                *("relation_to_candidate", "refinement", 0.95, [], "same_source"),
                *(None, NIGHT, MARKETS),
            ),
            ("plan_fulfilled", "yes", 0.95, [], "applied", "closed", VARN, MOVE),
            (
                *("relation_to_candidate", "update", 0.87, [0.87, 0.87], "applied"),
                *(None, TARN, OLDMILL),
            ),
            (
                *("relation_to_candidate", "negates", 0.92, [0.92, 0.92], "applied"),
                *("closed", NO_LONGER, PLAYS),
            ),
            (
                *("relation_to_candidate", "duplicate", 0.97, [0.97], "applied"),
                *("reopened", STILL, PLAYS),
            ),
        ],
    ),
    Case(
        "calibration_data",
        {"question": "plan_fulfilled"},
        "question_version backend model preset",
        [(1, "scripted", "scripted-1", "default")],
    ),
    Case(
        "labels_given",
        {},
        "verdict given_by why fact compared_with was_open belief question answer p",
        [
            *(("wrong", "Bero", "I moved", OLDMILL, None, True, 0.4193, None, None, None),),
            *(("right", None, None, TARN, OLDMILL, None, None, RELATION, "update", 0.87),),
        ],
    ),
    Case("labels_given", {"verdict": "right"}, "fact", [(TARN,)]),
    Case(
        "changes_in_memory",
        {"after": "first", "before": "done"},
        "change fact reason valid_until because_of",
        [
            ("learned", SALTWAY, None, None, None),
            ("closed", HOLLIN, "belief", "2025-03-01", SALTWAY),
            *(("learned", fact, None, None, None) for fact in (DRIVES, MARKETS, CROWDS, NIGHT)),
            *(("learned", fact, None, None, None) for fact in (FRIEND, STALL, MOVE, VARN)),
            ("closed", MOVE, "fulfilled", "2025-04-05", VARN),
            *(("learned", fact, None, None, None) for fact in (OLDMILL, TARN, MAPS, PLAYS)),
            ("learned", NO_LONGER, None, None, None),
            ("closed", PLAYS, "belief", "2025-02-20", NO_LONGER),
            ("learned", STILL, None, None, None),
            ("reopened", PLAYS, None, None, STILL),
            *(("learned", fact, None, None, None) for fact in (FAIR, BEROLD_WELSH, BERO_WELSH)),
            *(("learned", fact, None, None, None) for fact in (KERN, SAFE, LUNDE, CART, LUND)),
            ("corrected", LUNDE, "a misprint", "2025-06-03", LUND),
            ("merged", BEROLD_WELSH, "Berold is Bero", None, None),
        ],
    ),
    Case("changes_in_memory", {"after": "2024-01-01", "before": "first"}, "fact", [(HOLLIN,)]),
    Case(
        "changes_in_world",
        {"after": "2025-03-09", "before": "2025-04-05T00:00:01Z"},
        "at change fact closed_reason",
        [
            ("2025-03-09", "began", DRIVES, None),
            ("2025-03-10", "began", MARKETS, None),
            ("2025-03-11", "began", CROWDS, None),
            ("2025-03-12", "began", NIGHT, None),
            ("2025-03-20", "began", FAIR, None),
            ("2025-03-23", "ended", FAIR, "stated"),
            ("2025-04-05", "ended", MOVE, "fulfilled"),
            ("2025-04-05", "began", VARN, None),
        ],
    ),
    Case(
        "changes_in_world",  # what was corrected away never began
        {"after": "2025-06-03", "before": "2025-06-04"},
        "change subject predicate object status",
        [("began", "Odo", "born_in", "Lund", "current")],
    ),
    Case(
        "connections",
        {"entity": "Varn", "other": "odo kern"},
        "steps entities facts least_belief",
        [(3, ["Varn", "Mirelle", "Bero", "Odo Kern"], [VARN, FRIEND, KERN], 0.97)],
    ),
    Case("connections", {"entity": "Mirelle", "other": "Lund"}, "steps", []),
    Case("connections", {"entity": "Mirelle", "other": "Hollin Press"}, "steps", []),  # ended
    Case(
        "cost_by_question",
        {},
        "question requests failed cost_usd unpriced latency_ms_p50 latency_ms_p90",
        [
            ("durability", 23, 0, 0.0693, 0, 10.0, 10.0),
            ("fact_kind", 23, 0, 0.0693, 0, 10.0, 10.0),
            ("sensitivity", 23, 0, 0.0693, 0, 10.0, 10.0),
            ("temporal_status", 23, 0, 0.0693, 0, 10.0, 10.0),
            ("relation_to_candidate", 22, 0, 0.0683, 0, 10.0, 10.0),
            ("same_attribute", 22, 0, 0.0683, 0, 10.0, 10.0),
            ("plan_fulfilled", 11, 0, 0.0383, 0, 10.0, 10.0),
            ("relation_second", 3, 0, 0.003, 0, 10.0, 10.0),
        ],
    ),
    Case("cost_by_question", {"since": "done"}, "question", []),
    Case(
        "current_facts",
        {"entity": "Mimi"},
        "subject predicate object status valid_from belief tentative disputed told_by",
        [
            ("Mirelle", "dislikes", "crowds", "current", "2025-03-11", 0.9, False, True, ["Odo"]),
            ("Bero", "friend_of", "Mirelle", "current", "2025-02-01", 0.97, False, False, ["Bero"]),
            (
                "Mirelle",
                "lives_in",
                "Varn",
                "current",
                "2025-04-05",
                0.97,
                False,
                False,
                ["Mirelle"],
            ),
            (
                "Mirelle",
                "plans",
                "open a stall",
                "planned",
                "2025-02-02",
                0.97,
                False,
                False,
                ["Mirelle"],
            ),
            (
                "Mirelle",
                "prefers",
                "markets",
                "current",
                "2025-03-10",
                0.97,
                False,
                True,
                ["Mirelle"],
            ),
            (
                "Mirelle",
                "prefers",
                "night markets",
                "current",
                "2025-03-12",
                0.95,
                False,
                False,
                ["Mirelle"],
            ),
            (
                "Mirelle",
                "works_at",
                "Saltway Freight",
                "current",
                "2025-03-01",
                0.98,
                False,
                False,
                ["Bero", "Mirelle"],
            ),
            (
                "Mirelle",
                "works_at",
                "Saltway Freight",
                "current",
                "2025-03-09",
                0.9,
                False,
                False,
                ["Bero"],
            ),
        ],
    ),
    Case("current_facts", {"entity": "the spring fair"}, "fact", []),  # over
    Case("current_facts", {"entity": "CHESS", "limit": 1}, "fact negated", [(PLAYS, False)]),
    Case(
        "decisions_near_threshold",
        {"limit": 2},
        "distance kind value threshold question answer fact compared_with",
        [
            (0.02, "answer", 0.87, 0.85, "belief_start", "sure", TARN, None),
            (0.02, "answer", 0.87, 0.85, "relation_to_candidate", "update", TARN, OLDMILL),
        ],
    ),
    Case(
        "decisions_near_threshold",
        {"margin": 0.054, "act": 0.6},
        "distance kind value threshold answer outcome fact compared_with",
        [(-0.0535, "belief", 0.1965, 0.25, "negates", "applied", NO_LONGER, PLAYS)],
    ),
    Case(
        "disputed_facts",
        {},
        "fact open belief against contradicts told_by",
        [
            (CROWDS, True, 0.9, 0, [MARKETS], ["Odo"]),
            (MARKETS, True, 0.97, 0, [CROWDS], ["Mirelle"]),
        ],
    ),
    Case(
        "facts_by_speaker",
        {"speaker": "Bero"},
        "said_at fact quote valid_from valid_until belief also_by source_id",
        [
            ("2025-01-02", PLAYS, None, "2025-01-02", None, 0.8877, [], "m15"),
            ("2025-01-06", BERO_WELSH, None, "2025-01-06", None, 0.97, [], "m20"),
            ("2025-02-01", FRIEND, None, "2025-02-01", None, 0.97, [], "m08"),
            ("2025-03-09", DRIVES, None, "2025-03-09", None, 0.9, [], "m03"),
            ("2025-03-13", SALTWAY, None, "2025-03-01", None, 0.98, ["Mirelle"], "m07"),
            ("2025-05-01", OLDMILL, None, "2025-05-01", None, 0.4193, [], "m12"),
        ],
    ),
    Case(
        "facts_per_day",
        {},
        "messages learned closed reopened requests cost_usd",
        [(26, 24, 5, 1, 26, 0.455)],
    ),
    Case(
        "failed_questions",
        {},
        "question reason fact compared_with unsettled",
        [("fact_kind", "no usable answer", CART, None, True)],
    ),
    Case(
        "forgotten_plans",
        {"as_of": "2025-06-02"},
        "subject fact planned_for dated days_over belief told_by",
        [("Mirelle", STALL, "2025-02-02", False, 120, 0.97, ["Mirelle"])],
    ),
    Case("forgotten_plans", {"as_of": "2025-03-01"}, "fact", []),
    Case("forgotten_plans", {"as_of": "2025-03-01", "days": 20}, "days_over", [(27,)]),
    Case(
        "hubs",
        {"limit": 3},
        "entity facts open as_subject as_object mentions predicates",
        [
            (
                "Mirelle",
                10,
                8,
                9,
                1,
                0,
                ["works_at", "plans", "prefers", "dislikes", "friend_of", "lives_in"],
            ),
            ("Bero", 9, 9, 8, 1, 0, ["hobby", "friend_of", "lives_in", "speaks"]),
            ("Odo", 6, 4, 6, 0, 0, ["born_in", "attended", "has_role", "owns", "uses"]),
        ],
    ),
    Case(
        "message_consequences",
        {"source_id": "m02"},
        "speaker said_at fact first question answer p outcome other belief_before belief_after",
        [
            (
                "Mirelle",
                "2025-03-01",
                SALTWAY,
                True,
                "belief_start",
                "sure",
                0.97,
                "stored",
                None,
                None,
                None,
            ),
            (
                "Mirelle",
                "2025-03-01",
                SALTWAY,
                True,
                "worth_remembering",
                "yes",
                1.0,
                "stored",
                None,
                None,
                None,
            ),
            (
                "Mirelle",
                "2025-03-01",
                SALTWAY,
                True,
                "relation_to_candidate",
                "update",
                0.97,
                "applied",
                HOLLIN,
                0.98,
                0.0448,
            ),
            (
                "Mirelle",
                "2025-03-01",
                SALTWAY,
                True,
                "close",
                "belief",
                1.0,
                "closed",
                HOLLIN,
                None,
                None,
            ),
        ],
    ),
    Case(
        "message_consequences",
        {"source_id": "m07"},
        "fact first question",
        [(SALTWAY, False, None)],
    ),
    Case(
        "message_consequences",
        {"source_id": "m25"},
        "message status fact first question",
        [("The wifi password is (redacted)!", "done", None, None, None)],
    ),
    Case("message_consequences", {"source_id": "no such"}, "message", []),
    Case(
        "most_corrected_relations",
        {},
        "predicate facts open corrected by_belief superseded disputed tentative share",
        [
            ("born_in", 2, 1, 1, 0, 0, 0, 0, 0.5),
            ("works_at", 3, 2, 0, 1, 0, 0, 0, 0.3333),
            ("hobby", 3, 3, 0, 0, 0, 0, 0, 0.0),
            ("lives_in", 3, 3, 0, 0, 0, 0, 0, 0.0),
            ("friend_of", 2, 2, 0, 0, 0, 0, 0, 0.0),
            ("plans", 2, 1, 0, 0, 0, 0, 0, 0.0),
            ("prefers", 2, 2, 0, 0, 0, 1, 0, 0.0),
            ("speaks", 2, 2, 0, 0, 0, 0, 0, 0.0),
            ("attended", 1, 0, 0, 0, 0, 0, 0, 0.0),
            ("dislikes", 1, 1, 0, 0, 0, 1, 0, 0.0),
            ("has_role", 1, 1, 0, 0, 0, 0, 1, 0.0),
            ("owns", 1, 1, 0, 0, 0, 0, 0, 0.0),
            ("uses", 1, 1, 0, 0, 0, 0, 0, 0.0),
        ],
    ),
    Case(
        "open_contradictions",
        {},
        "newer older newer_belief older_belief newer_told_by older_told_by p",
        [(CROWDS, MARKETS, 0.9, 0.97, ["Odo"], ["Mirelle"], 0.9)],
    ),
    Case(
        "redactions",
        {},
        "said_at speaker source_id places message by_decider",
        [
            ("2025-06-02", "Odo", "m22", 1, SAFE, 1),
            ("2025-06-05", "Bero", "m25", 1, "The wifi password is (redacted)!", 0),
        ],
    ),
    Case(
        "relation_history",
        {"subject": "Mirelle", "predicate": "works_at"},
        "object fact valid_from valid_until closed_reason belief superseded_by told_by",
        [
            (
                "Hollin Press",
                HOLLIN,
                "2025-01-01",
                "2025-03-01",
                "belief",
                0.0448,
                [SALTWAY],
                ["Mirelle"],
            ),
            ("Saltway Freight", SALTWAY, "2025-03-01", None, None, 0.98, [], ["Bero", "Mirelle"]),
            ("Saltway Freight", DRIVES, "2025-03-09", None, None, 0.9, [], ["Bero"]),
        ],
    ),
    Case(
        "relation_history",
        {"subject": "Berold", "predicate": "hobby"},
        "fact negated",
        [(PLAYS, False), (STILL, False), (NO_LONGER, True)],
    ),
    Case(
        "rival_values",
        {},
        "subject predicate objects beliefs",
        [("Bero", "lives_in", ["Oldmill", "Tarn"], [0.4193, 0.98])],
    ),
    Case(
        "duplicate_facts",
        {},
        "newer older link p newer_belief older_belief",
        [
            (DRIVES, SALTWAY, "SAME_AS", 0.9, 0.9, 0.98),
            (NIGHT, MARKETS, "REFINES", 0.95, 0.95, 0.97),
            (STILL, PLAYS, "SAME_AS", 0.97, 0.97, 0.8877),
            (BERO_WELSH, BEROLD_WELSH, "SAME_AS", 1.0, 0.97, 0.97),
        ],
    ),
    Case(
        "similar_entities",
        {},
        "name other alike words name_facts other_facts in_common",
        [
            ("Odo", "Odo Kern", 0.5, ["odo"], 6, 1, 0),
            ("markets", "night markets", 0.5, ["markets"], 1, 1, 1),
            ("move to Varn", "Varn", 0.5, ["varn"], 1, 1, 1),
        ],
    ),
    Case("similar_entities", {"alike": 0.51}, "name", []),
    Case(
        "single_source_facts",
        {"speaker": "Odo"},
        "fact belief speaker said_at source_id quote",
        [
            (STILL, 0.97, "Odo", "2025-02-21", "m17", None),
            (CROWDS, 0.9, "Odo", "2025-03-11", "m05", None),
            (MAPS, 0.5, "Odo", "2025-05-11", "m14", None),
            (KERN, 0.97, "Odo", "2025-06-01", "m21", None),
            (SAFE, 0.97, "Odo", "2025-06-02", "m22", None),
            (CART, 0.97, "Odo", "2025-06-04", "m24", None),
        ],
    ),
    Case(
        "single_source_facts",
        {"speaker": "Mirelle"},
        "fact",  # not what Bero said, too
        [(STALL,), (NO_LONGER,), (MARKETS,), (NIGHT,), (VARN,), (TARN,)],
    ),
    Case(
        "sources_of_facts",
        {"entity": "Saltway Freight"},
        "fact open extractor speaker said_at message source_id",
        [
            (SALTWAY, True, "caller", "Mirelle", "2025-03-01", SALTWAY, "m02"),
            (DRIVES, True, "caller", "Bero", "2025-03-09", DRIVES, "m03"),
            (SALTWAY, True, "caller", "Bero", "2025-03-13", SALTWAY, "m07"),
        ],
    ),
    Case(
        "speakers_compared",
        {},
        "speaker messages facts alone open disputed by_belief corrected mean_belief",
        [
            ("Mirelle", 9, 9, 8, 7, 1, 1, 0, 0.8683),
            ("Odo", 8, 8, 8, 6, 1, 0, 1, 0.9025),
            ("Bero", 7, 6, 5, 6, 0, 0, 0, 0.8545),
            ("Berold", 1, 1, 1, 1, 0, 0, 0, 0.97),
            ("user", 1, 1, 1, 1, 0, 0, 0, 0.98),
        ],
    ),
    Case(
        "supersession_chain",
        {"subject": "Mirelle"},
        "newest step fact valid_from valid_until superseded_by reason",
        [
            (SALTWAY, 0, SALTWAY, "2025-03-01", None, None, None),
            (SALTWAY, 1, HOLLIN, "2025-01-01", "2025-03-01", SALTWAY, "belief"),
            (VARN, 0, VARN, "2025-04-05", None, None, None),
            (VARN, 1, MOVE, "2025-02-03", "2025-04-05", VARN, "fulfilled"),
        ],
    ),
    Case(
        "supersession_chain",
        {"subject": "Odo", "predicate": "born_in"},
        "step fact reason",
        [(0, LUND, None), (1, LUNDE, "corrected")],
    ),
    Case("supersession_chain", {"subject": "Bero"}, "fact", []),  # what was reopened has none
    Case("unread_facts", {}, "fact", []),
    Case(
        "unread_facts",
        {"days": 0, "limit": 2},
        "fact read_at durability extractor belief",
        [
            (HOLLIN, None, "long_term", "caller", 0.0448),
            (SALTWAY, None, "long_term", "caller", 0.98),
        ],
    ),
    Case(
        "unsure_facts",
        {},
        "fact tentative unsettled belief confidence open told_by",
        [
            (CART, False, True, 0.97, 0.97, True, ["Odo"]),
            (MAPS, True, False, 0.5, 0.7, True, ["Odo"]),
        ],
    ),
    Case(
        "weakest_beliefs",
        {"limit": 4},
        "fact belief confidence against tentative disputed told_by",
        [
            (OLDMILL, 0.4193, 0.97, 2, False, False, ["Bero"]),
            (MAPS, 0.5, 0.7, 0, True, False, ["Odo"]),
            (PLAYS, 0.8877, 0.97, 2, False, False, ["Bero"]),
            (DRIVES, 0.9, 0.9, 0, False, False, ["Bero"]),
        ],
    ),
    Case(
        "why_closed",
        {"subject": "Mirelle"},
        "fact valid_until closed_reason closed_by question answer p belief_before belief_after "
        "told_by quote words",
        [
            (
                HOLLIN,
                "2025-03-01",
                "belief",
                SALTWAY,
                "relation_to_candidate",
                "update",
                0.97,
                0.98,
                0.0448,
                ["Bero", "Mirelle"],
                None,
                None,
            ),
            (
                MOVE,
                "2025-04-05",
                "fulfilled",
                VARN,
                "plan_fulfilled",
                "yes",
                0.95,
                None,
                None,
                ["Mirelle"],
                None,
                None,
            ),
        ],
    ),
    Case(
        "why_closed",
        {"subject": "Odo"},
        "fact valid_until closed_reason closed_by question words",
        [
            (FAIR, "2025-03-23", "stated", None, None, None),
            (LUNDE, "2025-06-03", "corrected", LUND, None, "a misprint"),
        ],
    ),
    Case(
        "why_closed",  # also what was opened again
        {"subject": "Bero", "predicate": "hobby"},
        "fact valid_until answer belief_after",
        [(PLAYS, "2025-02-20", "negates", 0.1965)],
    ),
    Case(
        "world_as_of",
        {"as_of": "2025-02-03"},
        "subject predicate object fact status valid_from valid_until closed_reason",
        [
            ("Bero", "friend_of", "Mirelle", FRIEND, "current", "2025-02-01", None, None),
            ("Bero", "hobby", "chess", PLAYS, "current", "2025-01-02", None, None),
            ("Bero", "hobby", "chess", STILL, "current", "2025-01-02", None, None),
            ("Bero", "speaks", "Welsh", BEROLD_WELSH, "current", "2025-01-05", None, None),
            ("Bero", "speaks", "Welsh", BERO_WELSH, "current", "2025-01-06", None, None),
            ("Mirelle", "plans", "open a stall", STALL, "planned", "2025-02-02", None, None),
            (
                "Mirelle",
                "plans",
                "move to Varn",
                MOVE,
                "planned",
                "2025-02-03",
                "2025-04-05",
                "fulfilled",
            ),
            (
                "Mirelle",
                "works_at",
                "Hollin Press",
                HOLLIN,
                "current",
                "2025-01-01",
                "2025-03-01",
                "belief",
            ),
        ],
    ),
    Case(
        "world_as_of",
        {"as_of": "2025-06-30", "known_at": "first"},
        "fact valid_until closed_reason",
        [(HOLLIN, None, None)],
    ),
    Case(
        "world_as_of",
        {"as_of": "2025-06-30", "limit": 2},
        "fact negated",
        [(FRIEND, False), (PLAYS, False)],
    ),
    Case("world_as_of", {"as_of": "2024-12-31"}, "fact", []),
)
