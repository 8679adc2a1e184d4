"""From a method to a tool of the protocol: its schema, its namespace, its errors."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engram_graph.errors import EngramError
from engram_graph.mcp_server.profile import Profile
from engram_graph.mcp_server.tools import Offer

log = logging.getLogger(__name__)
_NAMESPACE = "Whose memory; the server allows no other."


def tool_of(offer: Offer, profile: Profile) -> Tool:
    """``offer`` as a tool that takes what ``profile`` allows, and no argument it does not know."""
    tool = Tool.from_function(
        _bound(offer.call, profile),
        name=offer.name,
        title=offer.title,
        description=" ".join((offer.call.__doc__ or "").split()),
        annotations=ToolAnnotations(
            title=offer.title,
            read_only_hint=not offer.writes,
            destructive_hint=offer.destroys,
            idempotent_hint=offer.repeatable,
            open_world_hint=False,  # it knows what it was told, and looks nowhere else
        ),
    )
    strict = _strict(tool.fn_metadata.arg_model)
    tool.fn_metadata.arg_model = strict
    tool.parameters = strict.model_json_schema(by_alias=True)
    return tool


def _strict(known: Any) -> Any:
    """The model of a tool's arguments, which refuses any other."""
    own = {"model_config": ConfigDict(extra="forbid"), "__module__": __name__}
    return type(known.__name__, (known,), own)


def _bound(call: Callable[..., Awaitable[BaseModel]], profile: Profile) -> Callable[..., Any]:
    """``call`` in the server's namespace, or in one of those allowed; failures as results."""

    async def run(**values: Any) -> CallToolResult:
        values.setdefault("namespace", profile.namespace)
        try:
            answer = await call(**values)
        except EngramError as error:
            return refused(error)
        except Exception as error:
            # Its kind only: the words of a fault may hold what somebody said.
            log.error("%s failed unexpectedly: %s", call.__name__, type(error).__name__)
            return refused(EngramError(f"unexpected {type(error).__name__}"))
        plain = answer.model_dump(mode="json", exclude_none=True)
        text = answer.model_dump_json(exclude_none=True)
        return CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content=plain
        )

    given = inspect.signature(call, eval_str=True)
    parameters = [each for name, each in given.parameters.items() if name != "namespace"]
    if profile.allowed:
        parameters.append(_namespace(profile))
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    answer = Annotated[CallToolResult, given.return_annotation]
    vars(run)["__signature__"] = inspect.Signature(parameters, return_annotation=answer)
    run.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": answer}
    run.__name__ = call.__name__
    return run


def _namespace(profile: Profile) -> inspect.Parameter:
    kind: Any = Literal[profile.allowed]
    default: Any = inspect.Parameter.empty if profile.namespace is None else profile.namespace
    return inspect.Parameter(
        "namespace",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, Field(description=_NAMESPACE)],
    )


def refused(error: EngramError) -> CallToolResult:
    """A failure as the model reads it: what is wrong, and what to do."""
    return CallToolResult(content=[TextContent(type="text", text=told(error))], is_error=True)


def told(error: EngramError) -> str:
    """An error in words: its code, its message, its hint."""
    return f"{error.code}: {error.message}" + (f"\n{error.hint}" if error.hint else "")


def wrong_arguments(tool: str, error: ValidationError) -> str:
    """What is wrong with the arguments of a call, without repeating them."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in found[:10]]
    return "\n".join([f"input: {tool} does not take these arguments", *lines])
