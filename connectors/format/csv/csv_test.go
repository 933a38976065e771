package csv

import (
	stdcsv "encoding/csv"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

func cols(ts ...types.Type) []spi.Column {
	all := make([]spi.Column, len(ts))
	for i, t := range ts {
		all[i] = spi.Column{Name: string(rune('a' + i)), Type: t}
	}
	return all
}

// options reads "name=value" pairs.
func options(pairs ...string) spi.Options {
	o := spi.Options{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		o[k] = v
	}
	return o
}

func decodeInto(t testing.TB, s spi.DecodeSpec, o spi.Options, msg string) (*changelog.Batch, error) {
	t.Helper()
	d, err := Format{}.NewDecoder(s, o)
	if err != nil {
		t.Fatal(err)
	}
	out := spi.NewOut(s.Columns)
	out.Batch = &changelog.Batch{}
	err = d.Decode(spi.Message{Value: []byte(msg)}, out)
	return out.Batch, err
}

func show(b *changelog.Batch, columns []spi.Column) string {
	if b.Len() == 0 {
		return ""
	}
	return showRow(b.Row(0), columns)
}

func showRow(r row.Row, columns []spi.Column) string {
	var cells []string
	for i, c := range columns {
		cells = append(cells, string(text.Append(nil, c.Type, r.Get(i, c.Type.Phys()), nil)))
	}
	return strings.Join(cells, "|")
}

func TestDecode(t *testing.T) {
	abc := cols(types.Of(types.Int), types.String(), types.DecimalOf(10, 2))
	for _, c := range []struct {
		msg, options, want string // or the reason of the error and the byte
		cols               []spi.Column
	}{
		{"1,x,1.50", "", "1|x|1.50", abc},
		{"1,x,1.50\r\n", "", "1|x|1.50", abc},
		{`1,"x,""y""",1.5E+2`, "", `1|x,"y"|150.00`, abc},
		{"1,\"x\ny\",1", "", "1|x\ny|1.00", abc},
		{`1,x"y,1`, "", `1|x"y|1.00`, abc},
		{",,", "", "NULL||NULL", abc},
		{`"","",""`, "", "NULL||NULL", abc},
		{"1,null,", "null-literal=null", "type 7", abc},
		{"null,null,null", "null-literal=null", "NULL|NULL|NULL", abc},
		{`1,"null",1`, "null-literal=null", "1|null|1.00", abc},
		{"1,,1", "null-literal=", "1|NULL|1.00", abc},
		{`1,"",1`, "null-literal=", "1||1.00", abc},
		{"", "", "", abc},
		{"\n", "", "", abc},
		{"# a,b\n1,x,1", "allow-comments=true", "1|x|1.00", abc},
		{"#1,x,1", "allow-comments=true", "", abc},
		{"1,#x,1", "allow-comments=true", "1|#x|1.00", abc},
		{"1\tx\t2", `field-delimiter=\t`, "1|x|2.00", abc},
		{"1;'a;b';2", `field-delimiter=; quote-character=' array-element-delimiter=|`, "1|a;b|2.00", abc},
		{`1,"x",2`, "disable-quote-character=true", `1|"x"|2.00`, abc},
		{`1,a\,b\\\n,2`, `escape-character=\`, "1|a,b\\\n|2.00", abc},
		{`1,"a\"b""c",2`, `escape-character=\`, `1|a"b"c|2.00`, abc},
		{`1,a\`, `escape-character=\`, "syntax 3", abc},
		{"x,y,1", "", "type 0", abc},
		{"1,y,1.005", "", "range 4", abc},
		{"1,y,12345678901", "", "range 4", abc},
		{"2147483648,y,1", "", "range 0", abc},
		{"1.5,y,1", "", "type 0", abc},
		{"1,y", "", "fields -1", abc},
		{"1,y,1,", "", "fields -1", abc},
		{"1,y,1\n2,y,1", "", "syntax 6", abc},
		{`1,"y,1`, "", "syntax 2", abc},
		{`1,"y"z,1`, "", "syntax 5", abc},
		{"1,\xff,1", "", "syntax 2", abc},
		{"1,😀\u2028,1", "", "1|😀\u2028|1.00", abc},
		{"true,1.5,2024-02-29,12:34:56,2024-02-29 12:34:56.789,2024-02-29 12:34:56.789Z,3q2+7w==", "",
			"TRUE|1.5|2024-02-29|12:34:56|2024-02-29 12:34:56.789|2024-02-29 12:34:56.789|x'deadbeef'",
			cols(types.Of(types.Boolean), types.Of(types.Double), types.Of(types.Date), types.Type{Kind: types.Time}, types.TimestampOf(3), types.TimestampLTZOf(3), types.Bytes())},
		{"1;;3,a;b", "", "[1, NULL, 3]|(a, b)", cols(types.ArrayOf(types.Of(types.Int)), types.RowOf(types.Field{Name: "x", Type: types.String()}, types.Field{Name: "y", Type: types.String()}))},
		{`"",1`, "", "[]|1", cols(types.ArrayOf(types.Of(types.Int)), types.Of(types.Int))},
		{"1;x", "", "type 0", cols(types.ArrayOf(types.Of(types.Int)))},
		{"a;b;c", "", "type 0", cols(types.RowOf(types.Field{Name: "x", Type: types.String()}))},
		{"-", "null-literal=-", "null 0", cols(types.Of(types.Int).Required())},
		{"", "null-literal=-", "", cols(types.Of(types.Int).Required())},
	} {
		b, err := decodeInto(t, spi.DecodeSpec{Columns: c.cols}, options(strings.Fields(c.options)...), c.msg)
		got := show(b, c.cols)
		if err != nil {
			var e *spi.DecodeError
			if !errors.As(err, &e) || e.Fix == "" || b.Len() != 0 {
				t.Fatalf("%q: %v", c.msg, err)
			}
			got = strings.TrimPrefix(string(e.Code), "message-") + " " + string(text.Append(nil, types.Of(types.Int), row.Int(int64(e.Offset)), nil))
		}
		if got != c.want {
			t.Errorf("%q %s: got %s (%v), want %s", c.msg, c.options, got, err, c.want)
		}
	}
}

// TestWantedFields reads some columns of a record by their place among all.
func TestWantedFields(t *testing.T) {
	all := cols(types.Of(types.Int), types.String(), types.Of(types.Int))
	s := spi.DecodeSpec{Columns: []spi.Column{all[2], {Name: "offset", Type: types.Of(types.BigInt), Metadata: "offset"}, all[0]}, Skip: []bool{false, true, false}, Fields: all}
	b, err := decodeInto(t, s, nil, "1,x,3")
	if err != nil || show(b, s.Columns) != "3|NULL|1" {
		t.Error(show(b, s.Columns), err)
	}
	if _, err := decodeInto(t, s, nil, "1,x"); err == nil || !strings.Contains(err.Error(), "2 fields and the table 3 columns") {
		t.Error(err)
	}
	// Even the record of which no column is wanted is one row.
	none := spi.DecodeSpec{Fields: all}
	if b, err := decodeInto(t, none, nil, "1,x,3"); err != nil || b.Len() != 1 {
		t.Error(b.Len(), err)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		column  spi.Column
		options string
		want    string
	}{
		{cols(types.MapOf(types.String(), types.String()))[0], "", "no form for the type MAP"},
		{cols(types.ArrayOf(types.ArrayOf(types.String())))[0], "", "no form for the type ARRAY"},
		{cols(types.Of(types.IntervalDT))[0], "", "no form for the type INTERVAL"},
		{spi.Column{Name: "x", Type: types.String(), Metadata: "m"}, "", `no metadata "m"`},
		{cols(types.String())[0], "field-delimiter=ab", "one ASCII character"},
		{cols(types.String())[0], "field-delimiter=n", "no letter"},
		{cols(types.String())[0], "quote-character=,", "the same character"},
		{cols(types.String())[0], "escape-character=,", "the same character"},
		{cols(types.String())[0], "null-literal=a,b", "holds a delimiter"},
		{cols(types.String())[0], "array-element-delimiter=", "is empty"},
		{cols(types.String())[0], "disable-quote-character=true quote-character='", "excludes"},
		{cols(types.String())[0], "allow-comments=maybe", "wants true or false"},
	} {
		o := options(strings.Fields(c.options)...)
		if _, err := (Format{}).NewDecoder(spi.DecodeSpec{Columns: []spi.Column{c.column}}, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("decoder %s: %v", c.options, err)
		}
		if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Columns: []spi.Column{c.column}}, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("encoder %s: %v", c.options, err)
		}
	}
	if _, err := (Format{}).NewDecoder(spi.DecodeSpec{Mode: spi.Upsert}, nil); err == nil {
		t.Error("upserts from csv")
	}
	if _, err := (Format{}).NewEncoder(spi.EncodeSpec{Mode: spi.Retract}, nil); err == nil {
		t.Error("retractions to csv")
	}
}

// makeRow builds a row of values.
func makeRow(t *testing.T, columns []spi.Column, values []row.Datum) row.Row {
	t.Helper()
	var b row.Builder
	b.Begin(nil, len(columns))
	phys := make([]types.Phys, len(columns))
	for i, c := range columns {
		phys[i] = c.Type.Phys()
		b.Datum(i, phys[i], values[i])
	}
	return row.Row(b.Finish(phys))
}

var roundTypes = cols(types.String(), types.Of(types.BigInt), types.DecimalOf(38, 10), types.Of(types.Double), types.Bytes(), types.ArrayOf(types.String()),
	types.TimestampLTZOf(9), types.RowOf(types.Field{Name: "x", Type: types.String()}, types.Field{Name: "y", Type: types.Of(types.Int)}), types.Of(types.Boolean), types.String())

var roundOptions = []string{
	"null-literal=NULL", "null-literal=", `null-literal=NULL escape-character=\`, `null-literal=NULL field-delimiter=\t quote-character='`, "null-literal=NULL allow-comments=true",
	"null-literal=NULL write-bigdecimal-in-scientific-notation=false", `null-literal=NULL disable-quote-character=true escape-character=\`,
}

// TestRoundTrip reads back whatever is written, where it is.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "ab,;\"'\\#\t\r\nNUL é😀n0"
	word := func() row.Datum {
		var s []rune
		all := []rune(letters)
		for range random.IntN(5) {
			s = append(s, all[random.IntN(len(all))])
		}
		if random.IntN(8) == 0 {
			s = []rune("NULL")
		}
		return row.Bytes([]byte(string(s)))
	}
	parsed := func(typ types.Type, s string) row.Datum {
		v, err := text.Parse(typ, []byte(s), nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	written := 0
	for i := range 20000 {
		o := options(strings.Fields(roundOptions[i%len(roundOptions)])...)
		var elems []row.Datum
		for range random.IntN(3) {
			elems = append(elems, word())
		}
		values := []row.Datum{
			word(), row.Int(random.Int64() - 1<<62), parsed(types.DecimalOf(38, 10), []string{"0", "100000", "-1.5", "0.0000000001", "1234567890123456789012345678.0123456789"}[random.IntN(5)]),
			parsed(types.Of(types.Double), []string{"NaN", "-Infinity", "1e300", "-0.1"}[random.IntN(4)]), row.Bytes([]byte{0, byte(i)}), row.Bytes(row.AppendArray(nil, types.PhysBytes, elems)),
			parsed(types.TimestampLTZOf(9), "2024-02-29 12:34:56.123456789"), row.Bytes(makeRow(t, cols(types.String(), types.Of(types.Int)), []row.Datum{word(), row.Int(int64(i))})), row.Bool(i%2 == 0), word(),
		}
		for k := range values {
			if random.IntN(6) == 0 {
				values[k] = row.NullDatum
			}
		}
		r := makeRow(t, roundTypes, values)
		e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: roundTypes}, o)
		if err != nil {
			t.Fatal(err)
		}
		msg, err := e.Encode(nil, nil, r)
		if err != nil {
			continue // an element that holds the delimiter, say
		}
		written++
		b, err := decodeInto(t, spi.DecodeSpec{Columns: roundTypes}, o, string(msg))
		if err != nil || b.Len() != 1 {
			t.Fatalf("%v %q: %d rows, %v", o, msg, b.Len(), err)
		}
		if got, want := show(b, roundTypes), showRow(r, roundTypes); got != want {
			t.Fatalf("%v %q: got %s, want %s", o, msg, got, want)
		}
	}
	if written < 5000 {
		t.Errorf("only %d records were written", written)
	}
}

func TestEncode(t *testing.T) {
	dec := types.DecimalOf(38, 10)
	for _, c := range []struct{ value, scientific, plain string }{
		{"100000", "1E+5", "100000.0000000000"}, {"1.50", "1.5", "1.5000000000"}, {"0", "0", "0.0000000000"}, {"-0.0000001", "-1E-7", "-0.0000001000"},
		{"0.000001", "0.000001", "0.0000010000"}, {"123", "123", "123.0000000000"}, {"1230", "1.23E+3", "1230.0000000000"}, {"12.34", "12.34", "12.3400000000"},
	} {
		v, err := text.Parse(dec, []byte(c.value), nil)
		if err != nil {
			t.Fatal(err)
		}
		for option, want := range map[string]string{"true": c.scientific, "false": c.plain} {
			e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols(dec)}, spi.Options{scientific: option})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.Encode(nil, nil, makeRow(t, cols(dec), []row.Datum{v})); err != nil || string(got) != want {
				t.Errorf("%s, %s: %s %v", c.value, option, got, err)
			}
		}
	}
	for _, c := range []struct {
		typ   types.Type
		value row.Datum
		o     string
		want  string
	}{
		{types.String(), row.Bytes([]byte("a,b")), "disable-quote-character=true", "without quotes"},
		{types.ArrayOf(types.String()), row.Bytes(row.AppendArray(nil, types.PhysBytes, []row.Datum{row.Bytes([]byte("a;b"))})), "", "holds the delimiter"},
		{types.ArrayOf(types.String()), row.Bytes(row.AppendArray(nil, types.PhysBytes, []row.Datum{row.NullDatum})), "", "is read as none"},
	} {
		e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols(c.typ)}, options(strings.Fields(c.o)...))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Encode(nil, nil, makeRow(t, cols(c.typ), []row.Datum{c.value})); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v", got, err)
		}
	}
	e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols(types.String())}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Encode(nil, makeRow(t, cols(types.String()), []row.Datum{row.NullDatum}), nil); err == nil {
		t.Error("a row was taken away")
	}
	if got, err := e.Encode(nil, nil, makeRow(t, cols(types.String()), []row.Datum{row.NullDatum})); err != nil || string(got) != `""` {
		t.Errorf("%s %v", got, err) // an empty message would be none
	}
}

// TestEmpty reads an empty array back as it was written, and NULL as NULL, alone in its record or not; where that cannot
// be, nothing is written.
func TestEmpty(t *testing.T) {
	array := types.ArrayOf(types.Of(types.Int))
	one := row.Bytes(row.AppendArray(nil, types.PhysInt, []row.Datum{row.Int(1)}))
	empty := row.Bytes(row.AppendArray(nil, types.PhysInt, nil))
	for _, pairs := range []string{"", "null-literal=", "null-literal=-", `escape-character=\`, "disable-quote-character=true", "disable-quote-character=true null-literal=",
		"disable-quote-character=true null-literal=-", `disable-quote-character=true escape-character=\`, `disable-quote-character=true escape-character=\ null-literal=`} {
		o := options(strings.Fields(pairs)...)
		quotes, literal := !strings.Contains(pairs, "disable"), strings.Contains(pairs, "null-literal=-")
		for _, columns := range [][]spi.Column{cols(array), cols(array, array), cols(types.Of(types.Int), array)} {
			for name, v := range map[string]row.Datum{"empty": empty, "NULL": row.NullDatum, "one": one} {
				values := []row.Datum{v, v}[:len(columns)]
				if columns[0].Type.Kind == types.Int {
					values[0] = row.Int(7)
				}
				e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: columns}, o)
				if err != nil {
					t.Fatal(err)
				}
				r := makeRow(t, columns, values)
				alone := len(columns) == 1
				refused := !literal && (name == "empty" && !quotes || name == "NULL" && alone) || literal && name == "empty" && alone && !quotes
				msg, err := e.Encode(nil, nil, r)
				if refused != (err != nil) {
					t.Errorf("%q, %s of %d columns: %q, %v", pairs, name, len(columns), msg, err)
				}
				if err != nil {
					continue
				}
				b, err := decodeInto(t, spi.DecodeSpec{Columns: columns}, o, string(msg))
				if err != nil || show(b, columns) != showRow(r, columns) {
					t.Errorf("%q, %s of %d columns: %q is read as %s, %v", pairs, name, len(columns), msg, show(b, columns), err)
				}
			}
		}
	}
}

// FuzzDecode holds records to those of the standard library, which are the same where a quote stands at the
// beginning of a field alone, and wants errors with a place for everything else.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"a,b", `"a","b"`, `"a""b",`, ",", "a,b\r\n", "\"a\nb\",c", `"a`, `"a"b,c`, `a"b,c`, "\xff,", "a,b\nc,d", "\r\r,", "", `"",""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, msg string) {
		two := cols(types.String(), types.String())
		b, err := decodeInto(t, spi.DecodeSpec{Columns: two}, nil, msg)
		if err != nil {
			var e *spi.DecodeError
			if !errors.As(err, &e) || e.Fix == "" || e.Offset > len(msg) || b.Len() != 0 {
				t.Fatalf("%q: %#v", msg, err)
			}
		}
		if !utf8.ValidString(msg) || strings.Contains(msg, "\r") {
			return // the standard library keeps and changes these
		}
		r := stdcsv.NewReader(strings.NewReader(msg))
		r.FieldsPerRecord = -1
		records, stdErr := r.ReadAll()
		if stdErr != nil {
			return // stricter in quotes
		}
		switch {
		case len(records) == 0:
			if err != nil || b.Len() != 0 {
				t.Fatalf("%q: %d rows, %v", msg, b.Len(), err)
			}
		case len(records) == 1 && len(records[0]) == 2:
			if err != nil || string(b.Row(0).Bytes(0)) != records[0][0] || string(b.Row(0).Bytes(1)) != records[0][1] {
				t.Fatalf("%q: got %s %v, want %q", msg, show(b, two), err, records[0])
			}
		case err == nil:
			t.Fatalf("%q: got %s, want %q", msg, show(b, two), records)
		}
	})
}

// TestHuge reads fields of 50 MB, with and without quotes.
func TestHuge(t *testing.T) {
	huge := strings.Repeat("x", 50<<20)
	for msg, want := range map[string]string{"1," + huge: huge, `1,"` + huge + `"""`: huge + `"`} {
		b, err := decodeInto(t, spi.DecodeSpec{Columns: cols(types.Of(types.Int), types.String())}, nil, msg)
		if err != nil || string(b.Row(0).Bytes(1)) != want {
			t.Errorf("%d bytes: %v", len(msg), err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	columns := cols(types.Of(types.Int), types.Of(types.Int), types.String())
	d, err := Format{}.NewDecoder(spi.DecodeSpec{Columns: columns}, nil)
	if err != nil {
		b.Fatal(err)
	}
	out := spi.NewOut(columns)
	out.Batch = &changelog.Batch{}
	m := spi.Message{Value: []byte("288123,73412,site-288123-v1.example.co.uk")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%1024 == 0 {
			out.Batch.Reset()
		}
		if err := d.Decode(m, out); err != nil {
			b.Fatal(err)
		}
	}
}
