"""Credentials in the records of a file from elsewhere: found in all of it, taken out of all of it.

What gives a credential away may stand in another record than the credential itself (a fact's text
and the name of its object), so what is found anywhere is taken out everywhere. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from engram_graph.models.export import (
    AliasRecord,
    AnyRecord,
    ConversationRecord,
    DecisionRecord,
    EntityRecord,
    FactRecord,
    FeedbackRecord,
    ItemRecord,
    LinkRecord,
    MentionRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Draft, Extracted
from engram_graph.rules.names import entity_key
from engram_graph.rules.secrets import find, find_in_json, redact_json, redact_values

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
M = TypeVar("M", bound=BaseModel)
_KNOWN = 4096  # words such as names of questions and speakers come again and again


def secrets_in(record: AnyRecord) -> set[str]:
    """The credentials in what people or models wrote into ``record``."""
    found: set[str] = set()
    for text in filter(None, _texts(record)):
        found.update(_found(text) if len(text) <= 80 else find(text))
    if isinstance(record, MessageRecord):
        found.update(find_in_json(record.message.metadata))
    if isinstance(record, ItemRecord):
        found.update(find_in_json(record.item.value))
    return found


def without(record: AnyRecord, values: Iterable[str]) -> AnyRecord:
    """``record`` without any of ``values``; itself when there are none."""
    known = tuple(values)
    if not known:
        return record

    def safe(text: str | None) -> str | None:
        return None if text is None else redact_values(text, known)

    def changed(part: M, *fields: str) -> M:
        return part.model_copy(update={field: safe(getattr(part, field)) for field in fields})

    match record:
        case ConversationRecord():
            return changed(record, "name")
        case MessageRecord(message=message, drafts=drafts):
            told = changed(message, "text", "speaker", "conversation", "source_id", "error")
            told = told.model_copy(update={"metadata": redact_json(message.metadata, known)})
            if drafts is not None:
                plain = tuple(
                    changed(d, "subject", "object", "text", "quote", "when") for d in drafts.drafts
                )
                drafts = drafts.model_copy(update={"drafts": plain})
            return record.model_copy(update={"message": told, "drafts": drafts})
        case EntityRecord(entity=entity):
            name = redact_values(entity.name, known)
            key = _key(entity.key, entity.name, known)
            aliases = tuple(redact_values(alias, known) for alias in entity.aliases)
            new = entity.model_copy(update={"name": name, "key": key, "aliases": aliases})
            return record.model_copy(update={"entity": new})
        case FactRecord(fact=fact):
            return record.model_copy(
                update={"fact": changed(fact, "text", "source_quote", "subject", "object")}
            )
        case LinkRecord(link=link):
            return record.model_copy(update={"link": changed(link, "reason")})
        case DecisionRecord(decision=decision):
            plain_more = {name: _strings(value, known) for name, value in record.more.items()}
            update = {"decision": changed(decision, "reason"), "more": plain_more}
            return record.model_copy(update=update)
        case RequestRecord(request=request):
            plain_request = replace(
                request,
                model=redact_values(request.model, known),
                error=safe(request.error),
                request_id=safe(request.request_id),
                answers=_strings(request.answers, known),
            )
            return record.model_copy(update={"request": plain_request})
        case AliasRecord():
            key = _key(record.key, record.name, known)
            return record.model_copy(update={"key": key, "name": safe(record.name)})
        case FeedbackRecord(feedback=label):
            return record.model_copy(update={"feedback": changed(label, "why", "given_by")})
        case ItemRecord(item=item, texts=texts):
            value = redact_json(item.value, known)
            update = {
                "item": item.model_copy(update={"value": value}),
                "texts": tuple(changed(each, "text") for each in texts),
            }
            return record.model_copy(update=update)
        case MentionRecord():
            return record


def _key(key: str, name: str, known: tuple[str, ...]) -> str:
    """A key in lower case does not hold what was found in the name: it is then made of the name."""
    plain, bare = redact_values(name, known), redact_values(key, known)
    if plain == name and bare == key:
        return key
    return entity_key(plain if plain != name else bare)


def _texts(record: AnyRecord) -> Iterator[str | None]:
    match record:
        case MessageRecord(message=message, drafts=drafts):
            yield from (message.text, message.speaker, message.error)
            for draft in (drafts or Extracted(extractor="")).drafts:
                yield from (draft.subject, draft.object, draft.text, draft.quote, draft.when)
                yield _told_together(draft)
        case EntityRecord(entity=entity):
            yield from (entity.key, entity.name, *entity.aliases)
        case FactRecord(fact=fact):
            yield from (fact.text, fact.source_quote, fact.subject, fact.object)
        case LinkRecord(link=link):
            yield link.reason
        case DecisionRecord(decision=decision):
            yield from (decision.reason, decision.chosen)
            yield from (_UUID.sub("", text) for text in _words(record.more))
        case RequestRecord(request=request):
            yield from (request.model, request.error, request.request_id)
            yield from (_UUID.sub("", text) for text in _words(request.answers))
        case AliasRecord():
            yield from (record.key, record.name)
        case FeedbackRecord(feedback=label):
            yield from (label.why, label.given_by)
        case ItemRecord(texts=texts):
            yield from (each.text for each in texts)
        case ConversationRecord() | MentionRecord():
            return


def _told_together(draft: Draft) -> str:
    return "\n".join((draft.text, draft.object, draft.subject, draft.quote or ""))


@lru_cache(maxsize=_KNOWN)
def _found(text: str) -> tuple[str, ...]:
    return find(text)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _words(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)


def _strings(value: Any, known: tuple[str, ...]) -> Any:
    """``value`` without ``known`` in its strings; numbers are probabilities and stay."""
    if isinstance(value, str):
        return redact_values(value, known)
    if isinstance(value, dict):
        return {redact_values(str(key), known): _strings(v, known) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_strings(inner, known) for inner in value]
    return value
