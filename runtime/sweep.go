package runtime

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/changelog"
	"github.com/sluicesql/sluice/engine/expr"
	"github.com/sluicesql/sluice/engine/keyenc"
	"github.com/sluicesql/sluice/engine/op"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

// sweepKey is where a state directory keeps the deletes that the next start begins with.
const sweepKey = "sweep"

// SweepOptions say what to sweep.
type SweepOptions struct {
	// Table is a table that the plan reads.
	Table string
	// Since are the offsets at which the second snapshot began: one for every partition. With none, SinceMillis is the
	// time, in milliseconds since 1970, from which on messages belong to it.
	Since       []spi.Position
	SinceMillis int64
	// Apply notes the deletes, so that the next start of the job begins with them.
	Apply bool
}

// SweepResult is what a sweep found.
type SweepResult struct {
	// Seen is the number of keys that messages since the snapshot's beginning are about, Held that of rows in the state.
	Seen, Held int64
	// Stale are the keys of rows that the snapshot does not show, as people read them.
	Stale []string
}

// sweepNote is what an applied sweep leaves for the next start.
type sweepNote struct {
	ID    int64  `json:"id"`
	Input string `json:"input"`
	// Columns are those of Rows: deletes as the source would give them, of which the key alone is set.
	Columns []string `json:"columns"`
	Rows    [][]byte `json:"rows"`
}

// Sweep finds the rows of a table that a second snapshot no longer shows: rows in the state whose keys no message
// since the snapshot's beginning, and before where the job has got to, is about. Their deletes were lost. The job of
// cfg's state directory must not run; its plan must be cfg's.
func Sweep(ctx context.Context, cfg Config, o SweepOptions) (_ *SweepResult, err error) {
	cfg.setDefaults()
	j := &Job{cfg: cfg}
	if j.store, err = state.Open(state.Options{Dir: cfg.StateDir, FS: j.fs(), MustExist: true}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.store.Close()) }()
	s, err := j.newSweep(o)
	if err != nil {
		return nil, err
	}
	seen, err := s.read(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", o.Table, err)
	}
	r, rows, err := s.compare(seen)
	if err != nil || !o.Apply {
		return r, err
	}
	note := sweepNote{ID: time.Now().UnixNano(), Input: s.input, Columns: scanColumns(s.scan), Rows: rows}
	var b []byte
	if len(rows) > 0 { // nothing to delete takes back what an earlier sweep noted
		if b, err = json.Marshal(note); err != nil {
			return nil, err
		}
	}
	return r, j.store.Edit(state.Edit{Meta: map[string][]byte{sweepKey: b}})
}

// sweep is a sweep on its way.
type sweep struct {
	job   *Job
	scan  *planner.Scan
	input string // its name
	last  []spi.Position
	// table is the state table that holds the table's rows, with the primary key's columns in them.
	table uint16
	key   []keyenc.Column
}

func (j *Job) newSweep(o SweepOptions) (*sweep, error) {
	p := j.cfg.Plan
	s := &sweep{job: j}
	var names []string
	for _, in := range p.Inputs() {
		if scan, ok := in.Node.(*planner.Scan); ok {
			names = append(names, scan.Table)
			if scan.Table == o.Table {
				s.scan, s.input = scan, in.Name
			}
		}
	}
	if s.scan == nil {
		return nil, fault.Errorf(fault.JobRequest, "the job reads no table %s", o.Table).Fix("%s", amongKnown(o.Table, "it reads", names))
	}
	if s.scan.Spec.Mode != spi.Upsert {
		return nil, fault.Errorf(fault.JobRequest, "table %s is not kept as a map from PRIMARY KEY to row, so that nothing tells which of its rows a snapshot shows again", o.Table).Fix("declare its PRIMARY KEY, and leave '%s' at true", planner.OptEventsDuplicate)
	}
	last, replay, found, err := j.sweepable()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fault.Errorf(fault.StateDirectory, "%s holds no checkpoint: no job has run on it", j.cfg.StateDir).Fix("name the state directory of a job that has read the table")
	}
	if len(replay) > 0 {
		return nil, fault.Errorf(fault.StateUnended, "the job of %s did not end in order", j.cfg.StateDir).
			Fix("start it once more, and stop it")
	}
	g, err := newGraph(p, 1, j.readersOf)
	if err != nil {
		return nil, err
	}
	was, err := j.readPlan()
	if err != nil {
		return nil, err
	}
	f := newFit(j.cfg.Plan, g, was, j.cfg.Redact)
	if len(f.losses) > 0 || f.fresh {
		return nil, fault.Errorf(fault.StatePlan, "the SQL is not that of the job of %s", j.cfg.StateDir).
			Fix("sweep with the SQL that it ran with last")
	}
	if err := g.setTables(f.kept); err != nil {
		return nil, err
	}
	s.last = last.Sources[s.input]
	return s, s.locate(g)
}

func (j *Job) sweepable() (cutRecord, []cutRecord, bool, error) {
	var err error
	if j.logged, err = state.ReadLog(j.fs(), j.cfg.StateDir); err != nil {
		return cutRecord{}, nil, false, err
	}
	return j.recover()
}

// locate follows the rows of the scan to the operator that keeps them.
func (s *sweep) locate(g *graph) error {
	at := slices.Clone(s.scan.Spec.Key)
	var n planner.Node = s.scan
	for {
		ps := g.parents[n]
		ps = slices.DeleteFunc(slices.Clone(ps), func(p parent) bool { _, dead := p.node.(*planner.DeadLetters); return dead })
		if len(ps) != 1 {
			return fault.Errorf(fault.Internal, "internal: the rows of table %s go %d ways before they are kept", s.scan.Table, len(ps))
		}
		in := n
		n = ps[0].node
		switch p := n.(type) {
		case *planner.Project:
			for i, c := range at {
				at[i] = slices.IndexFunc(p.Exprs, func(e expr.Expr) bool { col, ok := e.(*expr.Column); return ok && col.Index == c })
			}
		case *planner.Normalise:
			if p.Kind == planner.NormaliseRows {
				s.table = g.tables[n][0]
				s.key = keyenc.Columns(in.Out().Types(), at)
				return nil
			}
		case *planner.Join:
			s.table = g.tables[n][ps[0].port]
			s.key = keyenc.Columns(in.Out().Types(), at)
			return nil
		case *planner.Filter, *planner.Exchange:
		default:
			return fault.Errorf(fault.Internal, "internal: %T keeps no rows of table %s", n, s.scan.Table)
		}
	}
}

// keyHash stands for a key: two keys with one are not met in practice.
type keyHash [16]byte

func hashKey(key []byte) keyHash {
	h := sha256.Sum256(key)
	return keyHash(h[:16])
}

// read returns the keys of all messages since the snapshot's beginning, as far as the job has read.
func (s *sweep) read(ctx context.Context, o SweepOptions) (map[keyHash]bool, error) {
	spec := s.scan.Spec
	spec.Readers, spec.TimeZone, spec.Warn, spec.DeadLetters = 1, s.job.cfg.TimeZone, s.job.warner(s.scan.Table), nil
	if len(o.Since) > 0 {
		var err error
		if spec.Start, err = s.since(o.Since); err != nil {
			return nil, err
		}
	} else {
		t := *spec.Table
		t.Options = spi.Options{}
		for k, v := range spec.Table.Options {
			if !strings.HasPrefix(k, "scan.startup.") && !strings.HasPrefix(k, "scan.bounded.") {
				t.Options[k] = v
			}
		}
		t.Options["scan.startup.mode"], t.Options["scan.startup.timestamp-millis"] = "timestamp", strconv.FormatInt(o.SinceMillis, 10)
		if !slices.ContainsFunc(s.scan.Connector.Options(), func(o spi.Option) bool { return o.Name == "scan.startup.timestamp-millis" }) {
			return nil, fault.Errorf(fault.JobRequest, "its connector does not start at a time").
				Fix("name the offsets at which the snapshot began")
		}
		spec.Table = &t
	}
	src, err := s.scan.Connector.OpenSource(ctx, spec)
	if err != nil {
		return nil, err
	}
	seen, err := s.readAll(ctx, src)
	return seen, errors.Join(err, src.Close())
}

// since completes the offsets that people give by what the job knows of the partitions.
func (s *sweep) since(given []spi.Position) ([]spi.Position, error) {
	var start []spi.Position
	for _, p := range s.last {
		i := slices.IndexFunc(given, func(g spi.Position) bool { return g.Partition == p.Partition && (g.Topic == "" || g.Topic == p.Topic) })
		if i < 0 {
			return nil, fault.Errorf(fault.JobRequest, "where the snapshot begins in partition %d of %s is not said", p.Partition, p.Topic).Fix("add --since-offset %s/%d@OFFSET, or say it by --since-timestamp", p.Topic, p.Partition)
		}
		if given[i].Offset > p.Offset {
			return nil, fault.Errorf(fault.JobRequest, "the job has read partition %d of %s up to offset %d, and the snapshot is to begin at %d", p.Partition, p.Topic, p.Offset, given[i].Offset).
				Fix("let it read the snapshot first")
		}
		p.Offset, p.Epoch = given[i].Offset, -1
		start = append(start, p)
	}
	return start, nil
}

func (s *sweep) readAll(ctx context.Context, src spi.Source) (map[keyHash]bool, error) {
	if sk, ok := src.(spi.Skipper); ok {
		noted, err := s.job.notedSkips()
		if err != nil {
			return nil, err
		}
		var pos []spi.Position
		for _, n := range noted {
			if n.Table == s.scan.Table {
				pos = append(pos, spi.Position{Topic: n.Topic, Partition: n.Partition, Offset: n.Offset})
			}
		}
		sk.Skip(pos)
	}
	r := src.Reader(0)
	r.Limit(s.last)
	seen := map[keyHash]bool{}
	key := keyenc.Columns(s.scan.Types(), s.scan.Spec.Key)
	var b changelog.Batch
	var buf []byte
	for {
		n, err := r.Read(&b, DefaultBatchRows)
		for i := range b.Len() {
			buf = keyenc.Append(buf[:0], b.Row(i), key)
			seen[hashKey(buf)] = true
		}
		b.Reset()
		switch {
		case err != nil:
			return nil, err
		case n > 0:
			continue
		case r.AtLimit():
			return seen, nil
		}
		select {
		case <-r.Ready():
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// compare walks the rows in the state.
func (s *sweep) compare(seen map[keyHash]bool) (*SweepResult, [][]byte, error) {
	r := &SweepResult{Seen: int64(len(seen))}
	var rows [][]byte
	var rb row.Builder
	var buf []byte
	phys := op.Phys(s.scan.Types())
	cols := make([]planner.Column, len(s.scan.Spec.Key))
	for i, c := range s.scan.Spec.Key {
		cols[i] = s.scan.Columns[c]
	}
	err := s.job.store.Each(func(e state.StoredEntry) error {
		if e.Table != s.table {
			return nil
		}
		r.Held++
		v := row.Row(e.Value)
		if buf = keyenc.Append(buf[:0], v, s.key); seen[hashKey(buf)] {
			return nil
		}
		rb.Begin(nil, len(phys))
		for i, c := range s.scan.Spec.Key {
			rb.Copy(c, v, s.key[i].Index, phys[c])
		}
		rows = append(rows, slices.Clone(rb.Finish(phys)))
		rb.Begin(nil, len(cols))
		for i := range cols {
			rb.Copy(i, v, s.key[i].Index, s.key[i].Phys)
		}
		r.Stale = append(r.Stale, describe(rb.Finish(nil), cols, s.job.cfg.TimeZone))
		return nil
	})
	slices.Sort(r.Stale)
	return r, rows, err
}

// scanColumns are the columns that a scan delivers, with their types.
func scanColumns(s *planner.Scan) []string {
	var out []string
	for _, c := range s.Columns {
		out = append(out, c.Name+" "+c.Type.String())
	}
	return out
}

// notedSweep is the sweep that the state directory holds; nil for none.
func (j *Job) notedSweep() (*sweepNote, error) {
	b, err := j.store.Meta(sweepKey)
	if err != nil || b == nil {
		return nil, err
	}
	n := &sweepNote{}
	if err := json.Unmarshal(b, n); err != nil {
		return nil, state.Damaged("%s holds no readable note of a sweep: %w", j.cfg.StateDir, err)
	}
	return n, nil
}

// checkSweep refuses to read a table from its start again while a sweep of it waits: its deletes would come before the
// rows, and do nothing.
func (j *Job) checkSweep(last cutRecord, f *fit) error {
	n, err := j.notedSweep()
	if err != nil || n == nil || last.Swept == n.ID || f.positions[n.Input] {
		return err
	}
	return fault.Errorf(fault.StatePlan, "a sweep of %d rows of %s waits in %s, and would be lost where that is read from its start", len(n.Rows), n.Input, j.cfg.StateDir).
		Fix("start once with the SQL as it was, or sweep again when everything has been read")
}

// startSwept has a source begin with the deletes of a sweep that is noted and not part of the last checkpoint, in an
// epoch of their own: within one, what comes through another reader may overtake them, and a row that is there again
// would be deleted. Every cut from then on says so: a crash before the next checkpoint repeats them, and one after it
// does not.
func (j *Job) startSwept(last cutRecord) error {
	if !j.durable() {
		return nil
	}
	n, err := j.notedSweep()
	if n == nil || err != nil {
		return err
	}
	j.control.swept = n.ID
	if last.Swept == n.ID {
		return nil
	}
	if j.reemission != nil {
		return fault.Errorf(fault.JobRequest, "a sweep is noted").
			Fix("start once without --reemit, so that it is done first")
	}
	for _, r := range j.readers {
		scan, ok := r.source.frag.scan.(*planner.Scan)
		if !ok || r.source.name != n.Input || r.inst.index != 0 {
			continue
		}
		if !slices.Equal(scanColumns(scan), n.Columns) || scan.Spec.Mode != spi.Upsert {
			break
		}
		r.begin = &changelog.Batch{}
		for _, v := range n.Rows {
			r.begin.AppendRow(changelog.Delete, v)
		}
		if len(j.control.replay) == 0 { // otherwise the first logged cut is that of the deletes
			j.control.sweeping = true
			for _, r := range j.readers {
				r.paused = true
			}
		}
		return nil
	}
	return fault.Errorf(fault.StatePlan, "the sweep that is noted in %s was made with other SQL", j.cfg.StateDir).
		Fix("run sluice sweep again with this one")
}

// sweepStep ends the epoch of the deletes when they are on their way, and has the readers read.
func (c *controller) sweepStep(ctx context.Context) error {
	for _, r := range c.job.readers {
		if readerState(r.state.Load()) == reading {
			return nil
		}
	}
	c.sweeping = false
	if err := c.cut(ctx, cutOptions{}); err != nil {
		return err
	}
	return c.readOn(ctx)
}
