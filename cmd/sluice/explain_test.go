package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/planner"
)

// The page of plans names every field of their JSON.
func TestExplanationFields(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository(t), "docs", "explain.md"))
	if err != nil {
		t.Fatal(err)
	}
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			check(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name == "" || !strings.Contains(string(page), "`"+name+"`") {
					t.Errorf("docs/explain.md does not tell what field %q of %s is", name, typ)
				}
				check(f.Type)
			}
		}
	}
	for _, v := range []any{planner.ExplainedNode{}, planner.ExplainedRun{}} {
		check(reflect.TypeOf(v))
	}
}
