"""Splits statements as the lexers of StarRocks and Doris do, and reads them with the grammar that their manuals give.

Strict: what the manuals do not describe is an error, so that a sink cannot send something that only this double takes.
"""
import re


class SqlError(Exception):
    """An answer with a MySQL error number."""

    def __init__(self, text, number=1064):
        super().__init__(text)
        self.number = number


class Token:
    def __init__(self, kind, text):
        self.kind = kind  # word, name, text, number, mark
        self.text = text

    def __repr__(self):
        return f"{self.kind}:{self.text}"


ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "b": "\b", "Z": "\x1a"}


def tokens_of(sql):
    tokens = []
    at = 0
    while at < len(sql):
        c = sql[at]
        if c.isspace():
            at += 1
        elif c == "`":
            end = at + 1
            name = ""
            while True:
                if end >= len(sql):
                    raise SqlError("Getting syntax error: an identifier has no end")
                if sql[end] == "`":
                    if sql[end + 1:end + 2] != "`":
                        break
                    end += 1
                name += sql[end]
                end += 1
            if not name:
                raise SqlError("Getting syntax error: an empty identifier")
            tokens.append(Token("name", name))
            at = end + 1
        elif c in "\"'":
            end = at + 1
            text = ""
            while True:
                if end >= len(sql):
                    raise SqlError("Getting syntax error: a string has no end")
                if sql[end] == "\\":
                    text += ESCAPES.get(sql[end + 1], sql[end + 1])
                    end += 2
                elif sql[end] == c:
                    if sql[end + 1:end + 2] != c:
                        break
                    text += c
                    end += 2
                else:
                    text += sql[end]
                    end += 1
            tokens.append(Token("text", text))
            at = end + 1
        elif c.isdigit():
            number = re.match(r"\d+", sql[at:]).group()
            tokens.append(Token("number", number))
            at += len(number)
        elif c.isalpha() or c == "_":
            word = re.match(r"\w+", sql[at:]).group()
            tokens.append(Token("word", word))
            at += len(word)
        elif c in "(),.=*;%":
            tokens.append(Token("mark", c))
            at += 1
        else:
            raise SqlError(f"Getting syntax error at {sql[at:at + 20]!r}")
    return tokens


class Reader:
    """Walks the tokens of one statement."""

    def __init__(self, sql):
        self.sql = sql
        self.tokens = [t for t in tokens_of(sql) if not (t.kind == "mark" and t.text == ";")]
        self.at = 0

    def fail(self):
        near = " ".join(t.text for t in self.tokens[self.at:self.at + 4])
        raise SqlError(f"Getting syntax error near '{near}' in: {self.sql[:120]}")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("end", "")

    def next_is(self, *words):
        for i, word in enumerate(words):
            if self.at + i >= len(self.tokens):
                return False
            token = self.tokens[self.at + i]
            if token.kind not in ("word", "mark") or token.text.upper() != word:
                return False
        return True

    def take(self, *words):
        """True, and past them, where these words stand next."""
        if not self.next_is(*words):
            return False
        self.at += len(words)
        return True

    def expect(self, *words):
        if not self.take(*words):
            self.fail()

    def any(self, *kinds):
        token = self.peek()
        if token.kind not in kinds:
            self.fail()
        self.at += 1
        return token.text

    def name(self):
        return self.any("name", "word")

    def text(self):
        return self.any("text")

    def number(self):
        return int(self.any("number"))

    def path(self):
        database = self.name()
        self.expect(".")
        return database, self.name()

    def names(self):
        self.expect("(")
        names = [self.name()]
        while self.take(","):
            names.append(self.name())
        self.expect(")")
        return names

    def properties(self):
        """PROPERTIES ("k" = "v", ...), where it stands next."""
        if not self.take("PROPERTIES"):
            return {}
        self.expect("(")
        found = {}
        while True:
            key = self.text()
            self.expect("=")
            found[key] = self.text()
            if not self.take(","):
                break
        self.expect(")")
        return found

    def end(self):
        if self.at < len(self.tokens):
            self.fail()


class Column:
    def __init__(self, name, kind, length=None, scale=None, nullable=True, default=None, comment=""):
        self.name = name
        self.kind = kind  # upper case
        self.length = length
        self.scale = scale
        self.nullable = nullable
        self.default = default  # text, or ("now",)
        self.comment = comment
        self.uid = None
        self.is_key = False


def read_type(reader, product):
    kind = reader.any("word").upper()
    length = scale = None
    if reader.take("("):
        length = reader.number()
        if reader.take(","):
            scale = reader.number()
        reader.expect(")")
    plain = {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "LARGEINT", "FLOAT", "DOUBLE", "DATE", "DATETIME",
             "STRING", "JSON", "DECIMAL", "CHAR", "VARCHAR"}
    known = plain | ({"VARBINARY"} if product == "starrocks" else {"DECIMALV3", "DATEV2", "DATETIMEV2"})
    if kind not in known:
        raise SqlError(f"Unsupported data type: {kind}")
    limit = {"VARCHAR": 1048576 if product == "starrocks" else 65533, "CHAR": 255, "DATETIMEV2": 6}.get(kind)
    if limit is not None and length is not None and length > limit:
        raise SqlError(f"{kind} size must be <= {limit}: {length}")
    if kind in ("VARCHAR", "CHAR") and (length is None or length < 1):
        raise SqlError(f"{kind} needs a length")
    if kind in ("DECIMAL", "DECIMALV3"):
        if length is None or length > 38 or (scale or 0) > length:
            raise SqlError(f"DECIMAL's precision should be <= 38 and >= its scale: {length}, {scale}")
    if kind == "STRING" and product == "starrocks":
        kind, length = "VARCHAR", 65533
    return kind, length, scale


def read_column(reader, product):
    name = reader.name()
    kind, length, scale = read_type(reader, product)
    column = Column(name, kind, length, scale)
    if reader.take("NOT", "NULL"):
        column.nullable = False
    else:
        reader.take("NULL")
    if reader.take("DEFAULT"):
        if reader.take("CURRENT_TIMESTAMP"):
            if not kind.startswith("DATETIME"):
                raise SqlError(f"Default value of {name} must be a literal")
            column.default = ("now",)
        else:
            column.default = reader.text()
            if column.default == "0000-00-00 00:00:00":
                raise SqlError(f"Invalid date literal in default value: {column.default}")
    if reader.take("COMMENT"):
        column.comment = reader.text()
    return column
