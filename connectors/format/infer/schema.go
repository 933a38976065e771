package infer

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/connectors/format/connect"
	"github.com/sluicesql/sluice/engine/types"
)

func schemaOf(v *value) *connect.Schema {
	text, err := json.Marshal(v.plain())
	if err != nil {
		return nil
	}
	s := &connect.Schema{}
	if json.Unmarshal(text, s) != nil {
		return nil // it is read as a value without a schema
	}
	return s
}

// plain is v as encoding/json has it, for unmarshalling.
func (v *value) plain() any {
	switch v.kind {
	case boolean:
		return true
	case number:
		return json.Number(v.text)
	case str:
		return v.text
	case array:
		out := make([]any, len(v.elems))
		for i := range v.elems {
			out[i] = v.elems[i].plain()
		}
		return out
	case object:
		out := map[string]any{}
		for i := range v.members {
			out[v.members[i].name] = v.members[i].value.plain()
		}
		return out
	}
	return nil
}

// choice is a type with what makes it doubtful.
type choice struct {
	typ    types.Type
	doubts []string
}

func sure(t types.Type) choice { return choice{typ: t} }

func doubtful(t types.Type, doubts ...string) choice { return choice{t, doubts} }

// named are the types of schemas by their names. (Debezium's documentation, "Data type mappings" of its connectors;
// Kafka Connect's logical types.)
var named = map[string]choice{
	"io.debezium.time.Date":                   sure(types.Of(types.Date)),
	"io.debezium.time.IsoDate":                sure(types.Of(types.Date)),
	"org.apache.kafka.connect.data.Date":      sure(types.Of(types.Date)),
	"io.debezium.time.Time":                   sure(timeOf(3)),
	"io.debezium.time.MicroTime":              sure(timeOf(6)),
	"io.debezium.time.NanoTime":               sure(timeOf(9)),
	"io.debezium.time.IsoTime":                sure(timeOf(6)),
	"org.apache.kafka.connect.data.Time":      sure(timeOf(3)),
	"io.debezium.time.ZonedTime":              doubtful(timeOf(6), "in UTC: Debezium moves a time with a zone there"),
	"io.debezium.time.Timestamp":              sure(types.TimestampOf(3)),
	"io.debezium.time.MicroTimestamp":         sure(types.TimestampOf(6)),
	"io.debezium.time.NanoTimestamp":          sure(types.TimestampOf(9)),
	"io.debezium.time.IsoTimestamp":           sure(types.TimestampOf(6)),
	"org.apache.kafka.connect.data.Timestamp": sure(types.TimestampOf(3)),
	"io.debezium.time.ZonedTimestamp":         sure(types.TimestampLTZOf(6)),
	"io.debezium.time.MicroDuration":          doubtful(types.Of(types.BigInt), "microseconds; a month counts as 30.4375 days"),
	"io.debezium.time.NanoDuration":           doubtful(types.Of(types.BigInt), "nanoseconds; a month counts as 30.4375 days"),
	"io.debezium.data.VariableScaleDecimal":   doubtful(types.String(), "a number without a fixed scale; DECIMAL(p, s) where you know that all fit"),
	"io.debezium.data.Bits":                   sure(types.String()),
	"io.debezium.data.Json":                   doubtful(types.String(), "JSON; JSON_VALUE reads its fields"),
}

func timeOf(precision int) types.Type { return types.Type{Kind: types.Time, Precision: precision} }

// choose is the type of the values that s describes.
func choose(s *connect.Schema) choice {
	if c, ok := named[s.Name]; ok {
		return c
	}
	if s.Name == connect.DecimalName {
		return chooseDecimal(s)
	}
	switch s.Type {
	case "boolean":
		return sure(types.Of(types.Boolean))
	case "int8":
		return sure(types.Of(types.TinyInt))
	case "int16":
		return sure(types.Of(types.SmallInt))
	case "int32":
		return sure(types.Of(types.Int))
	case "int64":
		return sure(types.Of(types.BigInt))
	case "float":
		return sure(types.Of(types.Float))
	case "double":
		return sure(types.Of(types.Double))
	case "bytes":
		return sure(types.Bytes())
	case "array":
		if s.Items != nil {
			c := choose(s.Items)
			return choice{types.ArrayOf(c.typ), c.doubts}
		}
	case "map":
		if s.Values != nil {
			c := choose(s.Values)
			return choice{types.MapOf(types.String(), c.typ), c.doubts}
		}
	case "struct":
		var fields []types.Field
		var doubts []string
		for i := range s.Fields {
			f := &s.Fields[i]
			c := choose(f)
			fields = append(fields, types.Field{Name: f.Field, Type: c.typ})
			for _, d := range c.doubts {
				doubts = append(doubts, f.Field+": "+d)
			}
		}
		if len(fields) > 0 {
			return choice{types.RowOf(fields...), doubts}
		}
	}
	return sure(types.String())
}

// chooseDecimal is a Decimal by its scale, and its precision where Debezium gives that.
func chooseDecimal(s *connect.Schema) choice {
	scale, err := strconv.Atoi(s.Parameters["scale"])
	if err != nil || scale < 0 || scale > 38 {
		return doubtful(types.String(), "a number of the scale "+strings.TrimSpace(s.Parameters["scale"])+", which no DECIMAL has")
	}
	precision, err := strconv.Atoi(s.Parameters["connect.decimal.precision"])
	switch {
	case err != nil:
		return doubtful(types.DecimalOf(38, scale), "the schema does not say how many digits there are")
	case precision > 38:
		return doubtful(types.String(), "DECIMAL has at most 38 digits, and this has "+strconv.Itoa(precision))
	}
	return sure(types.DecimalOf(max(precision, scale, 1), scale))
}
