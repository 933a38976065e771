package planner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/sql/ast"
)

// sourceInfo is a table as something to read.
type sourceInfo struct {
	table  *Table
	spec   *spi.Table // with metadata columns of the connector's types
	traits spi.SourceTraits
	// mode is how the table is scanned; why tells the reason, for EXPLAIN.
	mode spi.Mode
	why  string
	// ref is where the query reads the table.
	ref ast.Pos
}

// changing reports whether the table's rows can be taken back.
func (s *sourceInfo) changing() bool { return s.mode != spi.AppendOnly }

// sinkInfo is a table as something to write.
type sinkInfo struct {
	table   *Table
	spec    *spi.Table
	traits  spi.SinkTraits
	columns []int // the columns written, as indexes into spec.Columns
	key     []int // positions of the primary key within columns
	route   []int // positions of traits.Route within columns
}

// asSource asks the connector whether and how t can be read. ref is where the table is read.
func (s *Session) asSource(t *Table, ref ast.Pos) (*sourceInfo, error) {
	if t.source == nil {
		traits, err := t.Connector.CheckSource(t.Spec)
		if errors.Is(err, spi.ErrNotSource) {
			return nil, errAt(ref, "table %q cannot be read: connector %s has no source", t.Name, t.Connector.Name()).Coded(ast.CodeReadWrite)
		}
		if err != nil {
			return nil, t.connectorError(err, ref)
		}
		spec, err := t.withMetadata(traits.Metadata, "read")
		if err != nil {
			return nil, err
		}
		t.source = &sourceInfo{table: t, spec: spec, traits: traits}
	}
	// The mode depends on a session option, so it is chosen for each job.
	info := *t.source
	info.ref = ref
	info.chooseMode(s.boolOption(OptEventsDuplicate))
	if info.mode == spi.Upsert && len(t.PrimaryKey) == 0 {
		return nil, hint(errAt(ref, "table %q needs a PRIMARY KEY, since the events of connector %s replace rows by key", t.Name, t.Connector.Name()).Coded(ast.CodeInvalid),
			"add PRIMARY KEY (…) NOT ENFORCED to its CREATE TABLE")
	}
	return &info, nil
}

// check asks the connector whether the table can be read as a scan asks.
func (s *sourceInfo) check(scan spi.Scan) error {
	if s.traits.CheckScan == nil {
		return nil
	}
	if err := s.traits.CheckScan(scan); err != nil {
		return s.table.connectorError(err, s.ref)
	}
	return nil
}

// chooseMode chooses how the table is scanned, among what the source allows.
func (s *sourceInfo) chooseMode(duplicates bool) {
	tr := s.traits
	s.mode = tr.Native
	switch {
	case tr.Native == spi.AppendOnly:
		s.why = "its events are inserts alone"
	case tr.Native == spi.Upsert:
		s.why = "its events replace rows by primary key"
	case len(s.table.PrimaryKey) == 0:
		s.why = "without a PRIMARY KEY the table is a bag of rows, and its events need full rows before"
	case !duplicates:
		s.why = "'" + OptEventsDuplicate + "' is false: the source is trusted"
	case !tr.CanUpsert:
		s.why = "connector " + s.table.Connector.Name() + " cannot deliver rows by key, so its events are trusted"
	default:
		s.mode = spi.Upsert
		s.why = "'" + OptEventsDuplicate + "' is true: events may come twice or lack the row before"
	}
}

// asSink asks the connector whether and how t can be written.
func (s *Session) asSink(t *Table, ref ast.Pos) (*sinkInfo, error) {
	if t.sink != nil {
		return t.sink, nil
	}
	traits, err := t.Connector.CheckSink(t.Spec)
	if errors.Is(err, spi.ErrNotSink) {
		return nil, errAt(ref, "table %q cannot be written: connector %s has no sink", t.Name, t.Connector.Name()).Coded(ast.CodeReadWrite)
	}
	if err != nil {
		return nil, t.connectorError(err, ref)
	}
	spec, err := t.withMetadata(traits.Metadata, "written")
	if err != nil {
		return nil, err
	}
	info := &sinkInfo{table: t, spec: spec, traits: traits}
	for i, c := range spec.Columns {
		if c.Metadata == "" || !c.Virtual {
			info.columns = append(info.columns, i)
		}
	}
	positions := func(columns []int) (at []int) {
		for _, k := range columns {
			if pos := slices.Index(info.columns, k); pos >= 0 {
				at = append(at, pos)
			}
		}
		return at
	}
	info.key, info.route = positions(t.PrimaryKey), positions(traits.Route)
	if traits.Accepts == spi.Upsert && len(info.key) == 0 {
		return nil, hint(errAt(ref, "table %q needs a PRIMARY KEY, since connector %s writes rows by key", t.Name, t.Connector.Name()).Coded(ast.CodeInvalid),
			"add PRIMARY KEY (…) NOT ENFORCED to its CREATE TABLE")
	}
	t.sink = info
	return info, nil
}

// withMetadata checks the table's metadata columns against the keys that the connector knows, and returns
// the table with those columns in the connector's types: casts to the declared types are the planner's.
func (t *Table) withMetadata(known []spi.Column, verb string) (*spi.Table, error) {
	spec := *t.Spec
	spec.Columns = append([]spi.Column(nil), t.Spec.Columns...)
	for i := range spec.Columns {
		c := &spec.Columns[i]
		if c.Metadata == "" || verb == "written" && c.Virtual {
			continue
		}
		m := findMetadata(known, c.Metadata)
		if m == nil {
			ac := t.astColumn(c.Name)
			pos := ac.MetadataKeyPos
			if !pos.IsValid() {
				pos = ac.Name.Pos
			}
			e := suggest(errAt(pos, "the metadata %q of table %q cannot be %s with connector %s", c.Metadata, t.Name, verb, t.Connector.Name()).Coded(ast.CodeUnknownOption),
				c.Metadata, metadataNames(known), "metadata keys")
			if verb == "written" && e.Hint == "" {
				e.Hint = "declare the column VIRTUAL to leave it out when writing"
			}
			return nil, e
		}
		if !castable(m.Type, c.Type) {
			return nil, errAt(t.astColumn(c.Name).Name.Pos, "column %q: the metadata %q is %s and cannot be cast to %s",
				c.Name, c.Metadata, m.Type, c.Type).Coded(ast.CodeTypeMismatch)
		}
		c.Type = m.Type
	}
	return &spec, nil
}

func findMetadata(known []spi.Column, key string) *spi.Column {
	for i := range known {
		if metadataName(known[i]) == key {
			return &known[i]
		}
	}
	return nil
}

func metadataNames(known []spi.Column) []string {
	n := make([]string, len(known))
	for i, c := range known {
		n[i] = metadataName(c)
	}
	return n
}

// metadataName is the key of a metadata declaration, which connectors give as Metadata or as Name.
func metadataName(c spi.Column) string {
	if c.Metadata != "" {
		return c.Metadata
	}
	return c.Name
}

// astColumn is the declaration of a column.
func (t *Table) astColumn(name string) *ast.Column {
	for _, c := range t.stmt.Columns {
		if c.Name.Name == name {
			return c
		}
	}
	panic(fmt.Sprintf("planner: table %s has no declaration of column %s", t.Name, name))
}
