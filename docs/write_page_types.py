"""Write ttt_net/web/src/protocol.ts, the types of the protocol for the page, from the messages: `make docs`."""

from pathlib import Path
from typing import Any

import msgspec

from ttt_net import messages as wire

TARGET = Path(__file__).parent.parent / "ttt_net" / "web" / "src" / "protocol.ts"
_HEAD = (
    "/** The messages of the protocol, as `make docs` writes them from the server's types; see docs/protocol.md. */\n"
)
_REFERENCE = "#/$defs/"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def main() -> None:
    """Write the file."""
    TARGET.write_text(types(), encoding="utf-8")


def types() -> str:
    """Return the types as TypeScript: an interface for each message, and the two unions of them."""
    parts = [_HEAD]
    unions, definitions = [], {}
    for name, union, is_sent in (("Request", wire.AnyRequest, True), ("ServerMessage", wire.AnyServerMessage, False)):
        schema = msgspec.json.schema(union)
        definitions.update({each: (value, is_sent) for each, value in schema["$defs"].items()})
        unions.append(f"export type {name} =\n  | " + "\n  | ".join(_type(each) for each in schema["anyOf"]) + ";\n")
    parts += [_interface(name, *definitions[name]) for name in sorted(definitions)]
    return "\n".join(parts + unions)


def _interface(name: str, schema: dict[str, Any], is_sent: bool) -> str:
    """Return one definition; what a server leaves out because it is the default is optional, and so is what we may."""
    if "properties" not in schema:
        return f"export type {name} = {_type(schema)};\n"
    required = schema.get("required", [])
    lines = []
    for field, value in schema["properties"].items():
        if is_sent and field == "id":
            continue  # the link numbers requests
        kind = _type(value)
        if field not in required and not is_sent:
            kind = kind.removesuffix(" | null")
        lines.append(f"  {field}{'' if field in required else '?'}: {kind};")
    return f"export interface {name} {{\n" + "\n".join(lines) + "\n}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REFERENCE)
    if "enum" in schema:
        return " | ".join(_literal(each) for each in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type(each) for each in schema["anyOf"])
    if schema["type"] == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
        items = _type(schema["items"])
        return f"({items})[]" if " | " in items else f"{items}[]"
    if schema["type"] == "object":
        return f"Record<string, {_type(schema['additionalProperties'])}>"
    return _PLAIN[schema["type"]]


def _literal(value: object) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    main()
