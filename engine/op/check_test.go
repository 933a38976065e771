package op

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

// checked are the checkers of a node (k INT NOT NULL, v STRING) of the given mode.
func checked(mode CheckMode, width int, change func(*CheckSpec)) []*Checker {
	s := &CheckSpec{
		Name: "node #7", Types: []types.Type{types.Of(types.Int).Required(), types.String()}, Mode: mode, Width: width,
		Describe: func(r row.Row) string { return fmt.Sprintf("(%d, %s)", r.Int64(0), r.Bytes(1)) },
	}
	if mode == CheckUpsert {
		s.UpsertKey = []int{0}
	}
	if change != nil {
		change(s)
	}
	l := NewLedger(s)
	var cs []*Checker
	for i := range width {
		cs = append(cs, NewChecker(s, i, l, discard{}))
	}
	return cs
}

// TestChecker has one line for each kind of fault, and for what looks like one and is none. Epochs are separated by
// "|".
func TestChecker(t *testing.T) {
	unique := func(s *CheckSpec) { s.Keys = [][]int{{0}} }
	for _, c := range []struct {
		name   string
		mode   CheckMode
		change func(*CheckSpec)
		in     string
		want   string // "" for no fault
	}{
		{"inserts", CheckAppend, nil, "+I 1 a; +I 1 a | +I 2 b", ""},
		{"a delete in an append-only stream", CheckAppend, nil, "+I 1 a; -D 1 a", "append-only"},
		{"an update in an append-only stream", CheckAppend, nil, "-U 1 a; +U 1 b", "append-only"},
		{"an update", CheckRetract, nil, "+I 1 a | -U 1 a; +U 1 b", ""},
		{"half an update at the end of a batch", CheckRetract, nil, "+I 1 a; -U 1 a", "no +U follows"},
		{"half an update", CheckRetract, nil, "+I 1 a; -U 1 a; +I 1 b", "no +U follows"},
		{"the other half", CheckRetract, nil, "+U 1 b", "no -U goes before"},
		{"a delete before its insert within an epoch", CheckRetract, nil, "-D 1 a; +I 1 a", ""},
		{"a delete before its insert's epoch", CheckRetract, nil, "-D 1 a | +I 1 a", "after epoch 1, (1, a) has weight -1"},
		{"one row taken away twice", CheckRetract, nil, "+I 1 a | -D 1 a | -D 1 a", "after epoch 3, (1, a) has weight -1"},
		{"one key in two rows within an epoch", CheckRetract, unique, "+I 1 a | +I 1 b; -D 1 a", ""},
		{"one key in two rows at its end", CheckRetract, unique, "+I 1 a | +I 1 b | -D 1 a", "after epoch 2, 2 rows have the unique key [0]"},
		{"one key in two equal rows", CheckRetract, unique, "+I 1 a; +I 1 a", "2 rows have the unique key"},
		{"one row too many", CheckAppend, func(s *CheckSpec) { s.Keys = [][]int{{}} }, "+I 1 a | +I 2 b", "unique key []"},
		{"upserts", CheckUpsert, unique, "+U 1 a; +U 1 b; -D 1 NULL; -D 1 NULL | +U 1 c", ""},
		{"an insert in an upsert stream", CheckUpsert, nil, "+I 1 a", "an upsert stream holds"},
		{"a row before in an upsert stream", CheckUpsert, nil, "-U 1 a; +U 1 b", "an upsert stream holds"},
		{"a delete that lacks its key", CheckUpsert, nil, "-D NULL NULL", "column 0 of its key is NULL"},
		{"a delete that lacks part of its key", CheckUpsert, func(s *CheckSpec) { s.UpsertKey = []int{0, 1} }, "-D 1 NULL", "column 1 of its key is NULL"},
		{"a key that moves and leaves something behind", CheckUpsert, func(s *CheckSpec) { s.UpsertKey, s.Keys = []int{0, 1}, [][]int{{0}} }, "+U 1 a | +U 1 b", "unique key [0]"},
		{"a key that moves", CheckUpsert, func(s *CheckSpec) { s.UpsertKey, s.Keys = []int{0, 1}, [][]int{{0}} }, "+U 1 a | -D 1 a; +U 1 b", ""},
		{"NULL where it is forbidden", CheckRetract, nil, "+I NULL a", "column 0 is NOT NULL"},
		{"another type", CheckRetract, func(s *CheckSpec) { s.Types[0] = types.Of(types.TinyInt) }, "+I 1000 a", "malformed row"},
		{"another number of columns", CheckRetract, func(s *CheckSpec) { s.Types = s.Types[:1] }, "+I 1 a", "malformed row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := checked(c.mode, 1, c.change)[0]
			var err error
			for n, epoch := range strings.Split(c.in, " | ") {
				if err == nil {
					err = k.Push(batchOf(t, strings.Split(epoch, "; ")...))
				}
				if err == nil {
					err = k.Barrier(uint64(n + 1))
				}
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "node #7")) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestCheckerEpochs(t *testing.T) {
	k := checked(CheckRetract, 1, nil)[0]
	for _, c := range []struct {
		epoch uint64
		ok    bool
	}{{4, true}, {5, true}, {5, false}, {7, false}, {6, true}} {
		if err := k.Barrier(c.epoch); (err == nil) != c.ok {
			t.Errorf("epoch %d: %v", c.epoch, err)
		}
	}
}

// A row that moves to another instance may be there an epoch early: the epoch is judged when all have ended it.
func TestCheckerOfSeveralInstances(t *testing.T) {
	ks := checked(CheckRetract, 2, func(s *CheckSpec) { s.Keys = [][]int{{0}} })
	step := func(i int, epoch uint64, lines ...string) error {
		if err := ks[i].Push(batchOf(t, lines...)); err != nil {
			return err
		}
		return ks[i].Barrier(epoch)
	}
	for _, err := range []error{
		step(0, 1, "+I 1 a"), step(1, 1),
		step(1, 2, "+I 1 b"), // instance 0 still has it
		step(1, 3, "-D 1 b"),
		step(0, 2, "-D 1 a"), step(0, 3, "+I 1 c"),
		step(0, 4), step(1, 4, "-D 1 c"), // taken away by an instance that did not give it
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := step(1, 5, "+I 1 d"); err != nil {
		t.Fatal(err)
	}
	if err := step(0, 5, "+I 1 e"); err == nil || !strings.Contains(err.Error(), "unique key") {
		t.Errorf("one key on two instances: %v", err)
	}
}

func TestCheckerOfDistribution(t *testing.T) {
	key := []keyenc.Column{{Index: 0, Phys: types.PhysInt}}
	ks := checked(CheckRetract, 4, func(s *CheckSpec) { s.Dist = []int{0} })
	for k := range int64(20) {
		r := pairRow(k, "a")
		home := keyenc.Shard(keyenc.Group(keyenc.Hash(keyenc.Append(nil, r, key))), 4)
		for i, c := range ks {
			var b changelog.Batch
			b.AppendRow(changelog.Insert, r)
			if err := c.Push(&b); (err == nil) != (i == home) {
				t.Errorf("key %d on shard %d of %d: %v", k, i, home, err)
			}
		}
	}
	all := checked(CheckRetract, 2, func(s *CheckSpec) { s.Dist = []int{} })
	home := keyenc.Shard(keyenc.Group(keyenc.Hash(nil)), 2)
	if err := all[home].Push(batchOf(t, "+I 1 a")); err != nil {
		t.Error(err)
	}
	if err := all[1-home].Push(batchOf(t, "+I 1 a")); err == nil {
		t.Error("without columns to divide by, all rows are on the empty key's shard")
	}
}
