"""What the records of an export are called where they go to."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from engram_graph import clock
from engram_graph.formats.export_check import Register
from engram_graph.models.decisions import RequestLog
from engram_graph.models.export import (
    AliasRecord,
    DecisionRecord,
    EntityRecord,
    FeedbackRecord,
    LinkRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Link
from engram_graph.models.items import Item

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


class Names:
    """New ids, each of which follows from the namespace and the old id."""

    def __init__(self, namespace: str, exported: str, register: Register) -> None:
        self._namespace = namespace
        self._register = register
        self.kept = namespace == exported
        """In the namespace that was exported the ids stay."""

    def derived(self, old: str) -> str:
        """The id of a record here, if nothing else was said of it."""
        return old if self.kept else clock.derived_id(self._namespace, old)

    def of(self, old: str | None) -> str | None:
        """What a record is called here; None when there is none, or it was left out."""
        if old is None:
            return None
        renamed, new = self._register.renamed(old)
        return new if renamed else self.derived(old)

    def leave_out(self, old: str) -> None:
        """A record is not imported; what names it will find out."""
        self._register.rename(old, None)

    def message(self, record: MessageRecord, new: str | None) -> None:
        """The new id of a message (None: it is left out), and of what its drafts became.

        A fact, or the decision that a draft repeats one, has an id that derives from its message's
        id and the draft's place: by it ``resume`` knows that the draft was applied. So it has to
        derive from the message's new id in the same way.
        """
        old = record.message.id
        self._register.rename(old, new)
        for index in range(len(record.drafts.drafts) if record.drafts else 0):
            place = str(index)
            self._register.rename(
                clock.derived_id(old, place), None if new is None else clock.derived_id(new, place)
            )

    def entity(self, key: str, record: EntityRecord) -> None:
        """Keep the entity that the file calls ``key``, under its new id."""
        new = record.entity.model_copy(
            update={"id": self.derived(record.entity.id), "namespace": self._namespace}
        )
        apart = tuple(map(self.derived, record.apart))
        kept = record.model_copy(update={"entity": new, "apart": apart})
        self._register.keep_entity(key, kept)

    def alias(self, record: AliasRecord) -> AliasRecord:
        """An alias of the entity as it is stored, with what undoing its merge needs."""
        changed: dict[str, Any] = {
            "entity": self._register.entity(record.entity).entity.key,
            "decisions": tuple(n for one in record.decisions if (n := self.of(one)) is not None),
        }
        if record.merged:
            ids = {
                "id": self.derived(record.merged.id),
                "apart": tuple(map(self.derived, record.merged.apart)),
            }
            changed["merged"] = record.merged.model_copy(update=ids)
        return record.model_copy(update=changed)

    def _told(self, reason: str | None) -> str | None:
        """A reason with the new ids of the records it names, such as that of a merge."""

        def new(found: re.Match[str]) -> str:
            old = found[0]
            return (self.of(old) or old) if self._register.names_record(old) else old

        return None if reason is None else _UUID.sub(new, reason)

    def link(self, record: LinkRecord) -> Link | None:
        """A link between the new ids; None when one end was left out."""
        source, target = self.of(record.link.source), self.of(record.link.target)
        if source is None or target is None:
            return None
        reason = self._told(record.link.reason)
        return record.link.model_copy(update={"source": source, "target": target, "reason": reason})

    def decision(self, record: DecisionRecord) -> DecisionRecord | None:
        """A decision on the new ids; None when what it is about was left out."""
        old = record.decision
        new_id = self.of(old.id)
        about, compared = self.of(old.fact_id), self.of(old.candidate_id)
        left_out = (old.fact_id or old.candidate_id) and not (about or compared)
        if new_id is None or left_out:
            self.leave_out(old.id)
            return None
        changed: dict[str, Any] = {
            "id": new_id,
            "fact_id": about,
            "candidate_id": compared,
            "reason": self._told(old.reason),
        }
        moves_end = record.moves_end
        if old.fact_id and about is None:
            # The fact it was about is left out: what it moved is said of the other one.
            changed |= {
                "fact_id": compared,
                "candidate_id": None,
                "belief_before": old.candidate_belief_before,
                "belief_after": old.candidate_belief_after,
            }
            moves_end = False
        return record.model_copy(
            update={
                "decision": old.model_copy(update=changed),
                "moves_end": moves_end,
                "more": {name: self._renamed(value) for name, value in record.more.items()},
            }
        )

    def feedback(self, record: FeedbackRecord) -> FeedbackRecord | None:
        """A label on the new ids; None when what it is about was left out."""
        old = record.feedback
        changed = {
            "id": self.derived(old.id),
            "namespace": self._namespace,
            "fact_id": self.of(old.fact_id),
            "decision_id": self.of(old.decision_id),
        }
        if not (changed["fact_id"] or changed["decision_id"]):
            return None
        return record.model_copy(update={"feedback": old.model_copy(update=changed)})

    def item(self, old: Item) -> Item:
        """An item under its new id; the source_ids of its messages stay."""
        return old.model_copy(update={"id": self.derived(old.id), "namespace": self._namespace})

    def _renamed(self, value: Any) -> Any:
        """A value with new ids in place of old ones."""
        if isinstance(value, list | tuple):
            return [self._renamed(one) for one in value]
        if isinstance(value, str) and _UUID.fullmatch(value):
            return self.of(value) or value
        return value

    def request(self, record: RequestRecord) -> tuple[RequestLog, list[str]]:
        """A call to a decider with the new ids, and the decisions that rest on it."""
        old = record.request
        # A candidate may be forgotten since: its id is derived like any other.
        ids = {one: self.of(one) or self.derived(one) for one in old.candidates}
        request = replace(
            old,
            id=self.derived(old.id),
            candidates=tuple(ids[one] for one in old.candidates),
            answers={_asked(key, ids): answer for key, answer in old.answers.items()},
        )
        return request, [new for one in record.decisions if (new := self.of(one)) is not None]


def _asked(key: str, ids: dict[str, str]) -> str:
    """``relation_to_candidate:<fact id>``, or ``same_fact`` with two, with the facts' new ids."""
    question, *facts = key.split(":")
    return ":".join((question, *(ids.get(fact, fact) for fact in facts)))
