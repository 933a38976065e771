package pipeline

import (
	"bytes"
	"encoding/json"
	"maps"
)

// schema is a JSON Schema.
type schema map[string]any

// Schema is the JSON Schema of sluice.yaml.
func Schema() ([]byte, error) {
	s := object((&Pipeline{}).keys())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = FileName
	s["$defs"] = schema{"settings": object((&Settings{}).keys())}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return b.Bytes(), err
}

// object is the schema of an object with the given keys.
func object(keys []key) schema {
	properties := schema{}
	var required []string
	for _, k := range keys {
		p := schema{"description": k.help}
		maps.Copy(p, k.schema)
		properties[k.name] = p
		if k.required {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return s
}

// Key describes a key of the file, for the reference.
type Key struct {
	Name, Help string
	Required   bool
	// Environment says that an environment may set it too.
	Environment bool
}

// Keys are the keys of the file, in the order of the reference.
func Keys() []Key {
	shared := map[string]bool{}
	for _, k := range (&Settings{}).keys() {
		shared[k.name] = true
	}
	var out []Key
	for _, k := range (&Pipeline{}).keys() {
		out = append(out, Key{k.name, k.help, k.required, shared[k.name]})
	}
	return out
}
