package infer

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/connectors/format/connect"
	"github.com/sluicesql/sluice/connectors/format/jsonrow"
)

// profile is what the values of a field look like.
type profile struct {
	name    string
	present int // with a value, a null or a placeholder
	nulls   int
	unsent  int // Debezium's placeholder for a value that was not sent

	bools, objects, arrays int
	numbers                numbers
	strings                texts
	variable               int // objects that are {scale, value}, as Debezium writes a number without a fixed scale
	fields                 []*profile
	elems                  *profile
	schema                 *connect.Schema // the last one that described it
	schemas                int             // how many descriptions that differ there were
}

// numbers are the numbers seen.
type numbers struct {
	n         int
	fractions int      // written with a point or an exponent
	min, max  *big.Int // of the integers
	// exact counts numbers that DOUBLE would not keep as they are written, digits are the most before and after the point.
	exact        int
	whole, scale int
	// recent counts the integers that lie in the years 1980 to 2100, by unit, days first.
	recent [len(units)]int
	zeros  int
}

// unit is a way to write a point in time as an integer.
type unit struct {
	name      string
	perDay    int64
	precision int // of a TIME or TIMESTAMP in that unit
}

var units = [...]unit{{"days", 1, 0}, {"milliseconds", 86400e3, 3}, {"microseconds", 86400e6, 6}, {"nanoseconds", 86400e9, 9}}

// The days, since 1970, that points in time without a schema are believed to lie between: 1980 to 2100.
const earliest, latest = 3652, 47482

// texts are the strings seen, and how many have a form.
type texts struct {
	n, special, digits, base64, padded, json, empty int
	zoned, date, time, plainDate, plainTimestamp    int
	fraction, longest                               int // digits after the second; length
}

var (
	zonedForm     = regexp.MustCompile(`^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$`)
	dateForm      = regexp.MustCompile(`^[+-]?\d{4,6}-\d\d-\d\dZ$`)
	timeForm      = regexp.MustCompile(`^\d\d:\d\d:\d\d(\.\d+)?Z$`)
	plainDateForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	plainForm     = regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?$`)
	numberForm    = regexp.MustCompile(`^-?\d+(\.\d+)?([eE][+-]?\d+)?$`)
)

// field is the profile of a member, made when it is new.
func field(fields *[]*profile, name string) *profile {
	for _, f := range *fields {
		if f.name == name {
			return f
		}
	}
	f := &profile{name: name}
	*fields = append(*fields, f)
	return f
}

// addRow adds the members of a row.
func addRow(fields *[]*profile, row *value, s *connect.Schema) {
	for i := range row.members {
		if m := &row.members[i]; row.get(m.name) == &m.value {
			p := field(fields, m.name)
			p.describe(s.Lookup(m.name))
			p.add(&m.value)
		}
	}
}

// describe notes the schema of the value that comes next.
func (p *profile) describe(s *connect.Schema) {
	if s != nil && (p.schema == nil || choose(p.schema).typ.String() != choose(s).typ.String()) {
		p.schemas++
	}
	if s != nil {
		p.schema = s
	}
}

func (p *profile) add(v *value) {
	p.present++
	switch {
	case v.kind == null:
		p.nulls++
	case isPlaceholder(v):
		p.unsent++
	case v.kind == boolean:
		p.bools++
	case v.kind == number:
		p.numbers.add(v.text)
	case v.kind == str:
		p.strings.add(v.text)
	case v.kind == array:
		p.arrays++
		if p.elems == nil {
			p.elems = &profile{name: p.name}
		}
		for i := range v.elems {
			p.elems.add(&v.elems[i])
		}
	default:
		p.objects++
		if len(v.members) == 2 && v.get("scale").is(number) && v.get("value").is(str) {
			p.variable++
		}
		addRow(&p.fields, v, nil)
	}
}

// values is the number of values that are neither null nor a placeholder.
func (p *profile) values() int { return p.present - p.nulls - p.unsent }

// isPlaceholder reports whether v is Debezium's for a value that did not change and was not sent: a string, one in a
// text[], or its bytes in an int[].
func isPlaceholder(v *value) bool {
	switch v.kind {
	case str:
		return jsonrow.IsPlaceholder([]byte(v.text))
	case array:
		if len(v.elems) == 1 && v.elems[0].kind == str {
			return v.elems[0].text == jsonrow.Placeholder
		}
		if len(v.elems) != len(jsonrow.Placeholder) {
			return false
		}
		for i := range v.elems {
			if v.elems[i].kind != number || v.elems[i].text != strconv.Itoa(int(jsonrow.Placeholder[i])) {
				return false
			}
		}
		return true
	}
	return false
}

func (n *numbers) add(text string) {
	n.n++
	digits, exponent, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(text), "-"), "e")
	whole, fraction, point := strings.Cut(digits, ".")
	e, _ := strconv.Atoi(exponent) // none is 0
	n.whole = max(n.whole, len(strings.TrimLeft(whole, "0"))+max(e, 0))
	n.scale = max(n.scale, len(fraction)-e)
	if point || exponent != "" {
		n.fractions++
		// Java writes 1.0 and 1.0E-7: other forms are those of a decimal, whose zeros count.
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || len(fraction) > 1 && strings.HasSuffix(fraction, "0") || !point {
			n.exact++
			return
		}
		// DOUBLE keeps 15 digits; of more only those that it would write itself.
		if len(strings.Trim(whole+fraction, "0")) > 15 {
			written, ok := new(big.Rat).SetString(text)
			shortest, ok2 := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
			if !ok || !ok2 || written.Cmp(shortest) != 0 {
				n.exact++
			}
		}
		return
	}
	v, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return // JSON has no other number without point and exponent
	}
	for i, u := range units {
		if day := new(big.Int).Quo(v, big.NewInt(u.perDay)); day.IsInt64() && day.Int64() >= earliest && day.Int64() < latest {
			n.recent[i]++
		}
	}
	if v.Sign() == 0 {
		n.zeros++
	}
	if n.min == nil || v.Cmp(n.min) < 0 {
		n.min = v
	}
	if n.max == nil || v.Cmp(n.max) > 0 {
		n.max = v
	}
}

// unit is the position of the unit in which most of the integers are recent.
func (n *numbers) unit() (best int) {
	for i := range units {
		if n.recent[i] > n.recent[best] {
			best = i
		}
	}
	return best
}

// within reports whether all integers lie in [lo, hi].
func (n *numbers) within(lo, hi int64) bool {
	return n.min != nil && n.min.Cmp(big.NewInt(lo)) >= 0 && n.max.Cmp(big.NewInt(hi)) <= 0
}

func (t *texts) add(s string) {
	t.n++
	t.longest = max(t.longest, len(s))
	switch {
	case s == "":
		t.empty++
	case s == "NaN" || s == "Infinity" || s == "-Infinity":
		t.special++
	case s == "infinity" || s == "-infinity" || zonedForm.MatchString(s):
		t.zoned++
		t.seeFraction(s)
	case dateForm.MatchString(s):
		t.date++
	case timeForm.MatchString(s):
		t.time++
		t.seeFraction(s)
	case plainDateForm.MatchString(s):
		t.plainDate++
	case plainForm.MatchString(s):
		t.plainTimestamp++
		t.seeFraction(s)
	case numberForm.MatchString(s):
		t.digits++
	case (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s)):
		t.json++
	}
	if b, err := base64.StdEncoding.DecodeString(s); err == nil && len(b) > 0 {
		t.base64++
		if strings.HasSuffix(s, "=") {
			t.padded++
		}
	}
}

// seeFraction notes the digits after the second.
func (t *texts) seeFraction(s string) {
	if _, after, ok := strings.Cut(s, "."); ok {
		t.fraction = max(t.fraction, len(after)-len(strings.TrimLeft(after, "0123456789")))
	}
}
