// Package connect is what the formats know of Kafka Connect.
package connect

// DecimalName is the name of the schemas of decimals, whose parameter "scale" tells the digits behind the point.
const DecimalName = "org.apache.kafka.connect.data.Decimal"

// Schema is what is read and written of a schema as Kafka Connect's JsonConverter has it beside a payload.
type Schema struct {
	// Type is "struct", "array", "map", "string", "bytes", "int32", and so on; Name what the type stands for, such as
	// "io.debezium.time.Date".
	Type     string `json:"type"`
	Optional bool   `json:"optional"`
	Name     string `json:"name,omitempty"`
	Version  int    `json:"version,omitempty"`
	// Field is the name that the schema's value has in the struct around it.
	Field  string   `json:"field,omitempty"`
	Fields []Schema `json:"fields,omitempty"`
	Items  *Schema  `json:"items,omitempty"`
	Keys   *Schema  `json:"keys,omitempty"`
	Values *Schema  `json:"values,omitempty"`
	// Parameters say more of a named type.
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Lookup is the schema of a struct's field. It is nil where there is none, and of a nil schema.
func (s *Schema) Lookup(field string) *Schema {
	if s == nil {
		return nil
	}
	for i := range s.Fields {
		if s.Fields[i].Field == field {
			return &s.Fields[i]
		}
	}
	return nil
}
