package parser

import (
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// typeNames are the words that start a type, with their canonical names.
var typeNames = map[string]string{
	"BOOLEAN": "BOOLEAN", "TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INT": "INT",
	"INTEGER": "INT", "BIGINT": "BIGINT", "FLOAT": "FLOAT", "DOUBLE": "DOUBLE",
	"DECIMAL": "DECIMAL", "DEC": "DECIMAL", "NUMERIC": "DECIMAL", "CHAR": "CHAR",
	"CHARACTER": "CHAR", "VARCHAR": "VARCHAR", "STRING": "STRING", "BINARY": "BINARY",
	"VARBINARY": "VARBINARY", "BYTES": "BYTES", "DATE": "DATE", "TIME": "TIME",
	"TIMESTAMP": "TIMESTAMP", "TIMESTAMP_LTZ": "TIMESTAMP_LTZ", "INTERVAL": "INTERVAL",
	"ARRAY": "ARRAY", "MULTISET": "MULTISET", "MAP": "MAP", "ROW": "ROW", "NULL": "NULL",
	"VARIANT": "VARIANT", "RAW": "RAW",
}

// foreignTypes are types of other dialects, with Flink's name for them.
var foreignTypes = map[string]string{
	"TEXT": "STRING", "NVARCHAR": "VARCHAR", "VARCHAR2": "VARCHAR", "CLOB": "STRING",
	"BLOB": "BYTES", "BYTEA": "BYTES", "BOOL": "BOOLEAN", "REAL": "FLOAT", "NUMBER": "DECIMAL",
	"INT2": "SMALLINT", "INT4": "INT", "INT8": "BIGINT", "LONG": "BIGINT", "SERIAL": "INT",
	"BIGSERIAL": "BIGINT", "DATETIME": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP_LTZ",
	"STRUCT": "ROW", "JSON": "STRING", "JSONB": "STRING", "UUID": "STRING", "MEDIUMINT": "INT",
}

// typeWords are the names of typeNames, in an order that is always the same.
var typeWords = strings.Fields(`BOOLEAN TINYINT SMALLINT INT INTEGER BIGINT FLOAT DOUBLE
	DECIMAL DEC NUMERIC CHAR CHARACTER VARCHAR STRING BINARY VARBINARY BYTES DATE TIME
	TIMESTAMP TIMESTAMP_LTZ INTERVAL ARRAY MULTISET MAP ROW VARIANT RAW`)

// dataType reads a type with what may follow it: the postfixes ARRAY and
// MULTISET, and NOT NULL.
func (p *parser) dataType() *ast.DataType {
	at := p.cur()
	defer p.leave(p.enter(at))
	t := p.plainType()
	for {
		p.nullability(t)
		if !p.is("ARRAY") && !p.is("MULTISET") {
			return t
		}
		p.grow(at)
		t = &ast.DataType{Pos: t.Pos, Name: p.next().kw, Precision: -1, Scale: -1, Elem: t}
	}
}

func (p *parser) nullability(t *ast.DataType) {
	switch {
	case p.acceptWords("NOT", "NULL"):
		t.NotNull = true
	case p.is("NULL") && p.isAt(1, "ON"): // JSON_VALUE(… RETURNING type NULL ON EMPTY)
	case p.accept("NULL"):
	}
}

func (p *parser) plainType() *ast.DataType {
	tok := p.cur()
	name, ok := typeNames[tok.kw]
	if tok.kind != tWord || !ok {
		p.noType(tok)
	}
	p.next()
	t := &ast.DataType{Pos: p.posOf(tok), Name: name, Precision: -1, Scale: -1}
	switch tok.kw {
	case "CHARACTER", "CHAR":
		if p.accept("VARYING") {
			t.Name = "VARCHAR"
		}
		p.precision(t, false)
	case "BINARY":
		if p.accept("VARYING") {
			t.Name = "VARBINARY"
		}
		p.precision(t, false)
	case "DOUBLE":
		p.accept("PRECISION")
	case "VARCHAR", "VARBINARY", "TIMESTAMP_LTZ":
		p.precision(t, false)
	case "DECIMAL", "DEC", "NUMERIC":
		p.precision(t, true)
	case "TIME":
		p.precision(t, false)
		if p.accept("WITHOUT") {
			p.expectWords("TIME", "ZONE")
		}
	case "TIMESTAMP":
		p.precision(t, false)
		t.Name = p.timeZone()
	case "INTERVAL":
		r := p.intervalRange()
		t.Interval = &r
	case "ARRAY", "MULTISET":
		p.typeArgs(tok, func() { t.Elem = p.dataType() })
	case "MAP":
		p.typeArgs(tok, func() {
			t.Key = p.dataType()
			p.expect(",")
			t.Elem = p.dataType()
		})
	case "ROW":
		p.rowType(tok, t)
	case "RAW":
		p.unsupported(tok, "", "the type RAW is not supported: it holds serialised Java objects")
	}
	return t
}

// noType reports a word that is no type.
func (p *parser) noType(tok *token) {
	if tok.kind != tWord || reserved[tok.kw] {
		p.unexpected("a type")
	}
	if flink, ok := foreignTypes[tok.kw]; ok {
		p.failTokAs(ast.CodeUnknownType, tok, "Flink SQL's name for it is "+flink, "unknown type %q", tok.text)
	}
	hint := ""
	if known := near.Name(tok.text, typeWords); known != "" {
		hint = "did you mean " + known + "?"
	}
	p.failTokAs(ast.CodeUnknownType, tok, hint, "unknown type %q", tok.text)
}

// typeArgs reads what stands between < and > of a type.
func (p *parser) typeArgs(tok *token, args func()) {
	if p.is("<>") {
		p.failTok(p.cur(), "", "%s needs a type between < and >", tok.kw)
	}
	if !p.is("<") {
		p.unexpected(`"<" after ` + tok.kw)
	}
	p.next()
	args()
	p.closeType(tok)
}

// closeType wants the > of a type.
func (p *parser) closeType(tok *token) {
	if p.atEnd() || p.is(")") {
		p.failTok(tok, `end it with ">"`, "the type %s<… is never closed", tok.kw)
	}
	p.expect(">")
}

// rowType reads ROW<name type, …>, or the same in parentheses.
func (p *parser) rowType(tok *token, t *ast.DataType) {
	fields := func() {
		p.commaList(func() {
			f := ast.RowField{Name: p.ident("a field name")}
			f.Type = p.dataType()
			if p.cur().isString() {
				f.Comment = p.stringText("a comment")
			}
			t.Fields = append(t.Fields, f)
		})
	}
	if p.is("(") {
		p.open()
		fields()
		p.expect(")")
		return
	}
	p.typeArgs(tok, fields)
}

// timeZone reads what may follow TIMESTAMP, and gives the type's name.
func (p *parser) timeZone() string {
	switch {
	case p.accept("WITHOUT"):
		p.expectWords("TIME", "ZONE")
	case p.acceptWords("WITH", "LOCAL"):
		p.expectWords("TIME", "ZONE")
		return "TIMESTAMP_LTZ"
	case p.acceptWords("WITH", "TIME"):
		p.expect("ZONE")
		return "TIMESTAMP_TZ"
	}
	return "TIMESTAMP"
}

// precision reads (precision) or, where scale says so, (precision, scale).
func (p *parser) precision(t *ast.DataType, scale bool) {
	if !p.is("(") {
		return
	}
	p.open()
	t.Precision = p.smallInt("a number of digits or a length")
	if scale && p.accept(",") {
		t.Scale = p.smallInt("a scale")
	}
	p.expect(")")
}

// smallInt reads a whole number that fits in 31 bits.
func (p *parser) smallInt(what string) int {
	t := p.cur()
	if t.kind != tInt {
		p.unexpected(what)
	}
	n, err := strconv.ParseInt(t.text, 10, 32)
	if err != nil {
		p.failTok(t, "", "%s is too large", t.text)
	}
	p.next()
	return int(n)
}

// intervalUnits are the units of INTERVAL; Flink takes the plural too.
var intervalUnits = map[string]string{
	"YEAR": "YEAR", "QUARTER": "QUARTER", "MONTH": "MONTH", "WEEK": "WEEK", "DAY": "DAY",
	"HOUR": "HOUR", "MINUTE": "MINUTE", "SECOND": "SECOND", "YEARS": "YEAR",
	"QUARTERS": "QUARTER", "MONTHS": "MONTH", "WEEKS": "WEEK", "DAYS": "DAY",
	"HOURS": "HOUR", "MINUTES": "MINUTE", "SECONDS": "SECOND",
}

var intervalWords = []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}

func (p *parser) intervalUnit() string {
	u, ok := intervalUnits[p.cur().kw]
	if !ok {
		p.unexpected("a unit of time ("+oneOf(intervalWords)+")", intervalWords...)
	}
	p.next()
	return u
}

// intervalRange reads unit[(p)] [TO unit[(p)]].
func (p *parser) intervalRange() ast.IntervalRange {
	r := ast.IntervalRange{Pos: p.pos(), FromPrecision: -1, FractionPrecision: -1}
	r.From = p.intervalUnit()
	if p.is("(") {
		p.open()
		r.FromPrecision = p.smallInt("a number of digits")
		if r.From == "SECOND" && p.accept(",") {
			r.FractionPrecision = p.smallInt("a number of digits")
		}
		p.expect(")")
	}
	if p.accept("TO") {
		t := p.cur()
		r.To = p.intervalUnit()
		if !intervalRanges[r.From+" TO "+r.To] {
			p.failTok(t, "", "there is no interval from %s to %s", r.From, r.To)
		}
		if r.To == "SECOND" && p.is("(") {
			p.open()
			r.FractionPrecision = p.smallInt("a number of digits")
			p.expect(")")
		}
	}
	return r
}

var intervalRanges = map[string]bool{
	"YEAR TO MONTH": true, "DAY TO HOUR": true, "DAY TO MINUTE": true, "DAY TO SECOND": true,
	"HOUR TO MINUTE": true, "HOUR TO SECOND": true, "MINUTE TO SECOND": true,
}
