package parser

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sluicesql/sluice/sql/ast"
)

// dump gives a tree as an s-expression without its zero fields; positions, as
// line:col after @, only where they are asked for.
func dump(v any, positions bool) string {
	var b strings.Builder
	d := dumper{b: &b, positions: positions}
	d.value(reflect.ValueOf(v), "")
	return b.String()
}

type dumper struct {
	b         *strings.Builder
	positions bool
}

func (d dumper) value(v reflect.Value, indent string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		d.value(v.Elem(), indent)
	case reflect.Slice:
		for i := range v.Len() {
			d.b.WriteString("\n" + indent)
			d.value(v.Index(i), indent)
		}
	case reflect.Struct:
		d.node(v, indent)
	case reflect.String:
		fmt.Fprintf(d.b, "%q", v.String())
	default:
		fmt.Fprintf(d.b, "%v", v.Interface())
	}
}

func (d dumper) node(v reflect.Value, indent string) {
	if id, ok := v.Interface().(ast.Ident); ok {
		d.b.WriteString(id.Name)
		if id.Quoted {
			d.b.WriteString("`")
		}
		if d.positions {
			d.b.WriteString("@" + short(id.Pos))
		}
		return
	}
	d.b.WriteString("(" + v.Type().Name())
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if pos, ok := f.Interface().(ast.Pos); ok {
			if d.positions && pos.IsValid() {
				d.b.WriteString(strings.TrimSuffix(" "+strings.TrimSuffix(name, "Pos"), " ") + "@" + short(pos))
			}
			continue
		}
		if f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		d.b.WriteString(" " + name + "=")
		d.value(f, indent+"  ")
	}
	d.b.WriteString(")")
}
