"""Assemble a program in the text format of WebAssembly, as training/kernel.wat uses it.

The program is a module of one exported memory and exported functions without results.
Its instructions are written with their operands inside: `(i32.add (local.get $n)
(i32.const 1))`. The encoding is that of https://webassembly.github.io/spec/core/binary.
"""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

Expression: TypeAlias = "str | list[Expression]"
"""A word, or a list in parentheses."""

TYPES = {"i32": b"\x7f", "v128": b"\x7b"}

PLAIN = {
    "i32.lt_u": b"\x49",
    "i32.add": b"\x6a",
    "f32.add": b"\x92",
    "f32x4.splat": b"\xfd\x13",
    "f32x4.eq": b"\xfd\x41",
    "v128.and": b"\xfd\x4e",
    "f32x4.add": b"\xfd\xe4\x01",
    "f32x4.mul": b"\xfd\xe6\x01",
    "f32x4.max": b"\xfd\xe9\x01",
}
"""Instructions that have only operands."""

MEMORY = {
    "i32.load": (b"\x28", 4),
    "f32.store": (b"\x38", 4),
    "v128.load": (b"\xfd\x00", 16),
    "v128.load32_splat": (b"\xfd\x09", 4),
    "v128.store": (b"\xfd\x0b", 16),
}
"""Instructions that read or write memory, and how many bytes."""


def read(text: str) -> Expression:
    """The first expression of a program.

    Args:
        text: The program. A comment begins with `;;` and ends with its line.
    """
    uncommented = re.sub(";;.*", "", text)
    return read_next(iter(re.findall(r'[()]|"[^"]*"|[^\s()"]+', uncommented)))


def read_next(words: Iterator[str]) -> Expression:
    word = next(words)
    if word != "(":
        return word
    parts = []
    while (part := read_next(words)) != ")":
        parts.append(part)
    return parts


def unsigned(number: int) -> bytes:
    """A number from 0 in LEB128: seven bits a byte, the lowest first."""
    if number < 0x80:
        return bytes([number])
    return bytes([number & 0x7F | 0x80]) + unsigned(number >> 7)


def signed(number: int) -> bytes:
    """A number in LEB128 whose last byte has the sign in its second bit."""
    if -0x40 <= number < 0x40:
        return bytes([number & 0x7F])
    return bytes([number & 0x7F | 0x80]) + signed(number >> 7)


def vector(parts: Sequence[bytes]) -> bytes:
    """Parts after their number."""
    return unsigned(len(parts)) + b"".join(parts)


def sized(contents: bytes) -> bytes:
    """Contents after their number of bytes."""
    return unsigned(len(contents)) + contents


def export(name: str, kind: bytes, index: int) -> bytes:
    """The export of a function or a memory under its quoted name."""
    return sized(name.strip('"').encode()) + kind + unsigned(index)


def instruction(
    expression: Sequence[Expression],
    variables: Sequence[str],
    labels: Sequence[str] = (),
) -> bytes:
    """The code of an instruction, after the code of its operands.

    Args:
        expression: The name of the instruction, its constants and its operands.
        variables: The names of the function's parameters and local variables.
        labels: The names of the loops around the instruction, the innermost last.
    """
    name, *parts = expression
    if name == "loop":
        inner = [*labels, parts.pop(0)]
        body = (instruction(part, variables, inner) for part in parts)
        return b"\x03\x40" + b"".join(body) + b"\x0b"
    constants = [part for part in parts if isinstance(part, str)]
    operands = [part for part in parts if not isinstance(part, str)]
    code = b"".join(instruction(part, variables, labels) for part in operands)
    if name in MEMORY:
        opcode, size = MEMORY[name]
        offset = int(constants[0].removeprefix("offset=")) if constants else 0
        return code + opcode + unsigned(size.bit_length() - 1) + unsigned(offset)
    if constants:
        [constant] = constants
        return code + WITH_CONSTANT[name](constant, variables, labels)
    return code + PLAIN[name]


WITH_CONSTANT: dict[str, Callable[[str, Sequence[str], Sequence[str]], bytes]] = {
    "br_if": lambda label, _, labels: b"\x0d" + unsigned(labels[::-1].index(label)),
    "local.get": lambda name, variables, _: b"\x20" + unsigned(variables.index(name)),
    "local.set": lambda name, variables, _: b"\x21" + unsigned(variables.index(name)),
    "i32.const": lambda number, *_: b"\x41" + signed(int(number)),
    "f32.const": lambda number, *_: b"\x43" + struct.pack("<f", float(number)),
    "f32x4.extract_lane": lambda lane, *_: b"\xfd\x1f" + unsigned(int(lane)),
}


def function(parts: Sequence[Expression]) -> tuple[bytes, bytes]:
    """The type and the code of a function, from its parameters, locals and body."""
    parameters = [part for part in parts if part[0] == "param"]
    variables = [part for part in parts if part[0] == "local"]
    names = [name for _, name, _ in parameters + variables]
    body = [part for part in parts if part[0] not in ("param", "local")]
    code = b"".join(instruction(part, names) for part in body)
    types = [TYPES[kind] for _, _, kind in parameters]
    one_of = [unsigned(1) + TYPES[kind] for _, _, kind in variables]
    return b"\x60" + vector(types) + vector([]), sized(vector(one_of) + code + b"\x0b")


def assemble(text: str) -> bytes:
    """The module of a program, as bytes.

    Args:
        text: The program.
    """
    _, *fields = read(text)
    [(_, (_, memory), pages)] = [field for field in fields if field[0] == "memory"]
    functions = [field for field in fields if field[0] == "func"]
    types, codes = zip(*(function(parts) for _, _, *parts in functions), strict=True)
    exports = [export(memory, b"\x02", 0)]
    exports += [export(field[1][1], b"\x00", n) for n, field in enumerate(functions)]
    sections = {
        1: vector(types),
        3: vector([unsigned(n) for n in range(len(functions))]),
        5: vector([b"\x00" + unsigned(int(pages))]),
        7: vector(exports),
        10: vector(codes),
    }
    parts = (bytes([number]) + sized(part) for number, part in sections.items())
    return b"\x00asm" + struct.pack("<I", 1) + b"".join(parts)
