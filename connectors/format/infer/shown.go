package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicesql/sluice/engine/types"
)

// choose is the type of a field's values: by its schema, else by what they show.
func (p *profile) choose(debezium bool) choice {
	if p.schema != nil {
		c := choose(p.schema)
		if p.schemas > 1 {
			c = doubtful(types.String(), "its type changed among these messages, last to "+c.typ.String())
		}
		return c
	}
	kinds := 0
	for _, n := range []int{p.bools, p.objects, p.arrays, p.numbers.n, p.strings.n} {
		if n > 0 {
			kinds++
		}
	}
	switch {
	case p.values() == 0 && p.unsent > 0:
		return doubtful(types.String(), "it was never sent: set REPLICA IDENTITY FULL for the table in PostgreSQL")
	case p.values() == 0:
		return doubtful(types.String(), "NULL in every message")
	case kinds == 2 && p.numbers.n > 0 && p.strings.special == p.strings.n:
		return sure(types.Of(types.Double))
	case kinds > 1:
		return doubtful(types.String(), "values of several kinds: "+p.kindNames())
	case p.bools > 0:
		return sure(types.Of(types.Boolean))
	case p.numbers.n > 0:
		return p.number()
	case p.strings.n > 0:
		return p.text(debezium)
	case p.arrays > 0:
		c := p.elems.choose(debezium)
		return choice{types.ArrayOf(c.typ), c.doubts}
	}
	return p.object(debezium)
}

func (p *profile) kindNames() string {
	var names []string
	for _, k := range []struct {
		n    int
		name string
	}{{p.bools, "booleans"}, {p.numbers.n, "numbers"}, {p.strings.n, "strings"}, {p.arrays, "arrays"}, {p.objects, "objects"}} {
		if k.n > 0 {
			names = append(names, fmt.Sprintf("%d %s", k.n, k.name))
		}
	}
	return strings.Join(names, ", ")
}

// number is the type of numbers.
func (p *profile) number() choice {
	n := &p.numbers
	switch {
	case n.fractions == 0:
		return p.integer()
	case n.exact == 0:
		return sure(types.Of(types.Double))
	case n.whole+n.scale > 38:
		return doubtful(types.String(), fmt.Sprintf("numbers of %d digits before and %d after the point, and DECIMAL has at most 38", n.whole, n.scale))
	}
	return doubtful(types.DecimalOf(38, n.scale), "more digits after the point may come")
}

// integer is the type of integers. One that may be a date or a time is declared so only where the name says the same
// as the size; where the size alone does, that is a doubt.
func (p *profile) integer() choice {
	n := &p.numbers
	if !n.within(math.MinInt64, math.MaxInt64) {
		if n.whole > 38 {
			return doubtful(types.String(), "integers of more than 38 digits")
		}
		return sure(types.DecimalOf(max(20, n.whole), 0))
	}
	words := wordsOf(p.name)
	if words.say("time") && n.within(0, 86400e6) && n.max.Int64() >= 1000 {
		u := units[1]
		if n.max.Int64() > u.perDay {
			u = units[2]
		}
		return doubtful(timeOf(u.precision), u.name+" of the day, by name and size; else BIGINT")
	}
	best := n.unit()
	u, seen := units[best], n.n-n.zeros // zeros are what missing and invented times look like
	switch {
	case n.recent[best] == 0:
	case best == 0 && words.say("date", "day", "dob", "birthday", "birthdate"):
		return doubtful(types.Of(types.Date), "days since 1970, by name and size; else BIGINT")
	case best > 0 && (words.say(timeWords...) || words.say("time") && 2*n.recent[best] >= seen):
		return doubtful(types.TimestampOf(u.precision), u.name+" since 1970, by name and size; else BIGINT")
	case best > 0 && 2*n.recent[best] >= seen:
		return doubtful(types.Of(types.BigInt), fmt.Sprintf("could be %s since 1970: TIMESTAMP(%d)", u.name, u.precision))
	}
	return sure(types.Of(types.BigInt))
}

// text is the type of strings.
func (p *profile) text(debezium bool) choice {
	s := &p.strings
	precision := 6
	if s.fraction > 6 {
		precision = 9
	}
	switch filled := s.n - s.empty; {
	case filled == 0:
		return doubtful(types.String(), "empty in every message")
	case s.special == s.n:
		return doubtful(types.Of(types.Double), "no numbers but NaN and infinities")
	case s.zoned == s.n:
		return doubtful(types.TimestampLTZOf(precision), fmt.Sprintf("written in UTC; of a column without a zone (time.precision.mode=isostring) it is a TIMESTAMP(%d)", precision))
	case s.date == s.n:
		return sure(types.Of(types.Date))
	case s.time == s.n:
		return doubtful(timeOf(precision), "in UTC, if the column has a zone")
	case s.plainDate == s.n && !debezium:
		return sure(types.Of(types.Date))
	case s.plainTimestamp == s.n && !debezium:
		return sure(types.TimestampOf(precision))
	case s.digits == s.n:
		return doubtful(types.String(), "digits in every message; a DECIMAL(p, s) reads them as numbers, with 'debezium-json.decimal-handling-mode' = 'string'")
	case s.base64 == filled && s.padded > 0 && (s.empty > 0 || s.longest > 24):
		return doubtful(types.Bytes(), "base64, by its form; else STRING")
	case s.base64 == filled && s.padded > 0:
		return doubtful(types.String(), "base64: of a number it is DECIMAL(p, s), whose scale is in no message; of bytes it is BYTES")
	case s.json == filled:
		return doubtful(types.String(), "JSON; JSON_VALUE reads its fields")
	}
	return sure(types.String())
}

// object is the type of objects.
func (p *profile) object(debezium bool) choice {
	if p.variable == p.objects && debezium {
		return doubtful(types.String(), "a number without a fixed scale; DECIMAL(p, s) where you know that all fit")
	}
	var fields []types.Field
	var doubts []string
	same, everywhere := true, true
	for _, f := range p.fields {
		c := f.choose(debezium)
		fields = append(fields, types.Field{Name: f.name, Type: c.typ})
		for _, d := range c.doubts {
			doubts = append(doubts, f.name+": "+d)
		}
		same = same && c.typ.SameIgnoringNull(fields[0].Type)
		everywhere = everywhere && f.present == p.objects
	}
	switch {
	case len(fields) == 0:
		return doubtful(types.String(), "empty objects; read as their text")
	case !everywhere && same:
		return doubtful(types.MapOf(types.String(), fields[0].Type), "objects of changing fields; a ROW<…> of those you want reads them too")
	}
	return choice{types.RowOf(fields...), doubts}
}

// timeWords are those that columns of points in time are named with.
var timeWords = []string{"timestamp", "ts", "dt", "at", "on", "when", "date", "datetime", "created", "updated", "modified", "deleted", "expires", "since", "until", "now"}

// words are those that a name is made of, in lower case.
type words []string

func (w words) say(wanted ...string) bool {
	return slices.ContainsFunc(w, func(word string) bool { return slices.Contains(wanted, word) })
}

// wordsOf splits a name at what is no letter and at each capital after a small one.
func wordsOf(name string) (w words) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			w = append(w, string(word))
			word = nil
		}
	}
	small := false
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && small {
			end()
		}
		if unicode.IsLetter(r) {
			word = append(word, unicode.ToLower(r))
		}
		small = unicode.IsLower(r)
	}
	end()
	return w
}
