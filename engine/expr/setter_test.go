package expr

import (
	"testing"

	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// Every example gives the same through a Setter as through a Fn, be its type what it may.
func TestSettersAgree(t *testing.T) {
	for _, f := range Functions() {
		for _, x := range f.Examples {
			e, err := Resolve(f.Name, x.Args)
			if err != nil {
				continue
			}
			set, err := CompileSetter(e, 0)
			if err != nil {
				continue // an example of what is refused when compiled
			}
			var c Ctx
			var b row.Builder
			p := e.Type().Phys()
			b.Begin(nil, 1)
			set(&c, nil, &b)
			if c.Err != nil {
				continue
			}
			r := row.Row(b.Finish([]types.Phys{p}))
			if got := string(text.Append(nil, e.Type(), r.Get(0, p), nil)); got != x.Want {
				t.Errorf("%s set %s, want %s", e, got, x.Want)
			}
		}
	}
}

func TestSetterCopiesColumns(t *testing.T) {
	schema := []types.Type{types.Of(types.Int), types.String(), types.DecimalOf(38, 2), types.Of(types.Double)}
	r := pack(t, schema, 1, "x", dec("2.50", 3, 2), 1.5)
	var b row.Builder
	b.Begin(nil, len(schema))
	var phys []types.Phys
	for i := range schema {
		set, err := CompileSetter(column(i, schema[i]), i)
		if err != nil {
			t.Fatal(err)
		}
		set(nil, r, &b)
		phys = append(phys, schema[i].Phys())
	}
	if got := row.Row(b.Finish(phys)); string(got) != string(r) {
		t.Errorf("%x, want %x", []byte(got), []byte(r))
	}
}
