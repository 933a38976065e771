package spi

import "sort"

// Registry holds the connectors and formats that a binary links in. It is filled by explicit calls
// before use and only read afterwards.
type Registry struct {
	connectors map[string]Connector
	formats    map[string]Format
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{map[string]Connector{}, map[string]Format{}}
}

// AddConnector registers c; a second one of the same name is a programming error and panics.
func (r *Registry) AddConnector(c Connector) {
	if _, ok := r.connectors[c.Name()]; ok {
		panic("connector registered twice: " + c.Name())
	}
	r.connectors[c.Name()] = c
}

// AddFormat registers f; a second one of the same name is a programming error and panics.
func (r *Registry) AddFormat(f Format) {
	if _, ok := r.formats[f.Name()]; ok {
		panic("format registered twice: " + f.Name())
	}
	r.formats[f.Name()] = f
}

// Connector returns the connector of that name, or nil.
func (r *Registry) Connector(name string) Connector { return r.connectors[name] }

// Format returns the format of that name, or nil.
func (r *Registry) Format(name string) Format { return r.formats[name] }

// Connectors are the names of all connectors, in order.
func (r *Registry) Connectors() []string { return sorted(r.connectors) }

// Formats are the names of all formats, in order.
func (r *Registry) Formats() []string { return sorted(r.formats) }

// Wrapped is a registry with what wrap makes of each connector, and the same formats.
func (r *Registry) Wrapped(wrap func(Connector) Connector) *Registry {
	out := &Registry{make(map[string]Connector, len(r.connectors)), r.formats}
	for _, c := range r.connectors {
		out.AddConnector(wrap(c))
	}
	return out
}

func sorted[T any](m map[string]T) []string {
	n := make([]string, 0, len(m))
	for k := range m {
		n = append(n, k)
	}
	sort.Strings(n)
	return n
}
