package debezium

import (
	"strconv"

	"github.com/sluicesql/sluice/connectors/format/connect"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/types"
)

// envelopeSchema is the schema of the messages of a sink of the given columns.
func envelopeSchema(columns []spi.Column) connect.Schema {
	r := connect.Schema{Type: "struct", Optional: true, Name: "Value"}
	for _, c := range columns {
		r.Fields = append(r.Fields, fieldSchema(c.Name, c.Type))
	}
	before, after := r, r
	before.Field, after.Field = "before", "after"
	return connect.Schema{Type: "struct", Name: "Envelope", Fields: []connect.Schema{before, after, {Type: "string", Field: "op"}}}
}

func fieldSchema(name string, t types.Type) connect.Schema {
	c := schemaOfType(t)
	c.Field = name
	return c
}

// schemaOfType is the schema of values of type t as jsonrow.Writer writes them: a DECIMAL as a number, which Kafka
// Connect knows as decimal.format=NUMERIC, dates and times as text.
func schemaOfType(t types.Type) connect.Schema {
	c := connect.Schema{Optional: !t.NotNull}
	switch t.Kind {
	case types.Boolean:
		c.Type = "boolean"
	case types.TinyInt:
		c.Type = "int8"
	case types.SmallInt:
		c.Type = "int16"
	case types.Int:
		c.Type = "int32"
	case types.BigInt:
		c.Type = "int64"
	case types.Float:
		c.Type = "float"
	case types.Double:
		c.Type = "double"
	case types.Decimal:
		c.Type, c.Name, c.Version = "bytes", connect.DecimalName, 1
		c.Parameters = map[string]string{"scale": strconv.Itoa(t.Scale), "connect.decimal.precision": strconv.Itoa(t.Precision)}
	case types.Binary, types.Varbinary:
		c.Type = "bytes"
	case types.Array:
		items := schemaOfType(*t.Elem)
		c.Type, c.Items = "array", &items
	case types.Map:
		keys, values := schemaOfType(*t.Key), schemaOfType(*t.Elem)
		c.Type, c.Keys, c.Values = "map", &keys, &values
	case types.Row:
		c.Type = "struct"
		for _, f := range t.Fields {
			c.Fields = append(c.Fields, fieldSchema(f.Name, f.Type))
		}
	default:
		c.Type = "string"
	}
	return c
}
