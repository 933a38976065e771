package ast

import "reflect"

// Visit calls f for each part of n that is a Node, n included, a part before the parts that it is made of; it leaves out
// the parts of those for which f returns false. Unlike Inspect it enters everything: queries, tables, names and types.
// It goes by reflection and is meant for tools.
func Visit(n Node, f func(Node) bool) { visit(reflect.ValueOf(n), f) }

func visit(v reflect.Value, f func(Node) bool) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Interface {
			visit(v.Elem(), f)
			return
		}
		if n, ok := v.Interface().(Node); !ok || f(n) {
			fields(v.Elem(), f)
		}
	case reflect.Struct:
		if n, ok := v.Interface().(Node); !ok || f(n) {
			fields(v, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), f)
		}
	}
}

func fields(v reflect.Value, f func(Node) bool) {
	if v.Kind() != reflect.Struct {
		visit(v, f)
		return
	}
	for i := range v.NumField() {
		visit(v.Field(i), f)
	}
}
