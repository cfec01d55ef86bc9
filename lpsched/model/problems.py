"""Problems of what users bring: Pydantic's errors translated into our messages, and problems in the order of a file.

A problem says where, what was found, what is needed, and what to do. A field type of `fields.py` knows its own message.
The description of a field says what a list or mapping should hold; the JSON Schema shows it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, Place, nearest, quote
from lpsched.model.fields import Several, describe

MOST_ADVISED: Final = 20  # problems that get a suggestion; finding one compares many names
Problem = tuple["Place", str, str, str]  # where in a part, what was found, what is needed, what to do
AnyPart = TypeVar("AnyPart", bound=BaseModel)
SHAPES: Final = {"list_type": "a list", "tuple_type": "a list"} | dict.fromkeys(
    ("dict_type", "mapping_type", "model_type"), "a mapping"
)


def problems_of(error: ValidationError, model: type[BaseModel], place: Place, hint: str) -> list[InputIssue]:
    """Translate Pydantic's errors into problems; the one place where that happens."""
    found: list[InputIssue] = []
    for detail in error.errors(include_url=False)[:MOST_ISSUES]:
        found += _translated(detail, model, place, hint, advise=len(found) < MOST_ADVISED)
    return found


def _translated(
    detail: ErrorDetails, model: type[BaseModel], place: Place, hint: str, *, advise: bool
) -> Iterable[InputIssue]:
    path: Place = (*place, *(step for step in detail["loc"] if step != "[key]"))
    context: dict[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "field":
            found, needed, do = context["of"].message(detail["input"])
        case "issue":
            found, needed, do = context["got"], context["expected"], context["hint"]
        case "problems":  # several, from a validator of ours
            several = context["inner"]
            return [InputIssue((*path, *inner), found, needed, do or hint) for inner, found, needed, do in several]
        case "missing":
            found, needed, do = "nothing", described(model, path) or f"the key {quote(str(path[-1]))}", "add it"
        case "extra_forbidden" | "unexpected_keyword_argument" | "invalid_key":
            known = names_of(_kind_at(model, path[:-1]))
            advice = nearest(str(path[-1]), known) if advise else ""
            found, needed, do = "an unknown key", "one of " + ", ".join(known), advice or "remove it"
        case "count":
            found, needed, do = _miscounted(detail["input"], context["of"], described(model, path))
        case kind:
            part = _kind_at(model, path)
            own = getattr(part, "NEEDED", None) or SHAPES.get(kind)
            if kind == "dataclass_type":
                own = f"a mapping with the keys {', '.join(names_of(part))}"
            needed = described(model, path) or _limits(model, path) or own or "a value of another kind"
            found, do = describe(detail["input"]), ""
    return [InputIssue(path, found, needed, do or hint)]


def _miscounted(value: Sized, limits: Several, description: str) -> tuple[str, str, str]:
    if limits.most is not None and len(value) > limits.most:
        return f"{len(value):,} of them", f"at most {limits.most:,}", "divide the instance"
    found = describe(value) if len(value) else "an empty mapping" if isinstance(value, Mapping) else "an empty list"
    return found, description or limits.needed or f"at least {limits.least}", ""


def part_from(model: type[AnyPart], raw: object) -> AnyPart:
    """Return the part that a value describes, for a validator that has more than one to choose from."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        found = problems_of(error, model, (), "")
        raise problems((each.path, each.got, each.expected, each.hint) for each in found) from None


def problems(found: Iterable[Problem]) -> PydanticCustomError:
    """Return the error by which a validator reports several problems at once."""
    return PydanticCustomError("problems", "is not valid", {"inner": tuple(found)})


def described(model: type[BaseModel], path: Place) -> str:
    """Return the description of the field that a path leads to."""
    field = field_at(model, path)
    return (field.description or "") if field is not None else ""


def _limits(model: type[BaseModel], path: Place) -> str:
    """Return what the limits of a list or mapping say of it."""
    field = field_at(model, path)
    kinds = () if field is None else (field, *get_args(field.annotation))
    found = [each for kind in kinds for each in (getattr(kind, "metadata", ()) or getattr(kind, "__metadata__", ()))]
    return next((each.needed for each in found if isinstance(each, Several)), "")


def field_at(model: type[BaseModel], path: Place) -> FieldInfo | None:
    """Return the field that a path leads to; `None` where it leaves the models."""
    return _fields_of(_kind_at(model, path[:-1])).get(path[-1]) if path else None


def _kind_at(model: type[BaseModel], path: Place) -> object:
    """Return the type of what a path leads to; `None` where it leaves the models."""
    kind: Any = model
    for step in path:
        kind = _plain(kind)
        if fields := _fields_of(kind):
            kind = fields[step].annotation if step in fields else None
        else:
            inner = [each for each in get_args(kind) if each is not ...]
            kind = inner[-1] if inner else None
    return _plain(kind)


def _plain(kind: Any) -> Any:  # noqa: ANN401 - any annotation
    """Return a type without metadata and without `None`."""
    if hasattr(kind, "__metadata__"):
        return _plain(kind.__origin__)
    inner = [each for each in get_args(kind) if each is not type(None)]
    optional = len(inner) < len(get_args(kind))
    return _plain(inner[0]) if optional and len(inner) == 1 else kind


def names_of(kind: object) -> list[str]:
    """Return the keys that a part of a file may have."""
    return list(_fields_of(kind))


@cache
def _fields_of(kind: Any) -> dict[Any, FieldInfo]:  # noqa: ANN401 - any annotation
    """Return the fields of a model or of a data class in one, by their keys; none of anything else."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields
    elif isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        fields = {each.name: FieldInfo.from_annotation(hints[each.name]) for each in dataclass_fields(kind)}
    else:
        return {}
    return {field.alias or key: field for key, field in fields.items()}


def checked(name: str, value: float | None, check: Callable[[object], float]) -> float | None:
    """Return a number that a user gave as an option, if it is valid."""
    if value is None:
        return None
    try:
        return check(value)
    except PydanticCustomError as error:
        raise InstanceError("", (InputIssue((name,), **(error.context or {})),)) from None


def too_many(path: Place, count: int, most: int) -> InputIssue:
    """Return the problem of a list that is longer than anything that could be solved."""
    return InputIssue(path, f"{count:,} of them", f"at most {most:,}", "divide the instance")


def repeats(names: Iterable[str], path: Place, tail: Place) -> Iterator[InputIssue]:
    """Return a problem for each name that was given before."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield InputIssue((*path, index, *tail), f"{quote(name)} once more", "a name of its own", "rename one")
        seen.add(name)


def in_file_order(problems: Iterable[InputIssue], raw: object) -> tuple[InputIssue, ...]:
    """Sort problems by where their paths stand in `raw`; a missing key comes after its siblings."""
    orders: dict[int, dict[str, int]] = {}  # of each mapping on the way, the position of its keys

    def position(problem: InputIssue) -> tuple[int, ...]:
        here, steps = raw, []
        for step in problem.path:
            if isinstance(here, Mapping):
                order = orders.setdefault(id(here), {})
                if not order:
                    order.update({key: index for index, key in enumerate(here)})
                steps.append(order.get(str(step), len(order)))
                here = here.get(step)
            else:
                steps.append(step if isinstance(step, int) else 0)
                inside = isinstance(here, list | tuple) and isinstance(step, int) and step < len(here)
                here = here[step] if inside else None  # type: ignore[index]  # `inside` says it can be
        return tuple(steps)

    return tuple(sorted(dict.fromkeys(problems), key=position))
