package kafka

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
)

// place is the part of a message that a column lies in.
type place uint8

const (
	inValue    place = iota // the value's format has it, its metadata included
	inKey                   // the key's format has it
	inMetadata              // the record itself has it
)

// Layout says what lies where in the records of a table.
type Layout struct {
	table *spi.Table
	// KeyFormat writes keys, with KeyOptions, which lack its prefix; nil when the table says nothing of keys.
	KeyFormat  spi.Format
	KeyOptions spi.Options
	// ValueFormat writes values, with ValueOptions, which lack its prefix.
	ValueFormat  spi.Format
	ValueOptions spi.Options
	// KeyFields are the columns of the key, as indexes into the table's columns, in the key's order.
	KeyFields []int
	// ExceptKey says that the value does not hold the key's columns.
	ExceptKey bool

	valueOptionPrefix string // "json." or "value.json.", for remedies
	keyPrefix         string
	upsert            bool // upsert-kafka
}

// ReadLayout reads the layout of a table of the connectors kafka and upsert-kafka, whose formats are in r. The error is that
// of CheckSource or CheckSink.
func ReadLayout(r *spi.Registry, t *spi.Table) (*Layout, error) {
	return newLayout(r, t, t.Options["connector"] == upsertName)
}

// newLayout reads format, key.* and value.* of a table and checks them against its columns.
func newLayout(r *spi.Registry, t *spi.Table, upsert bool) (*Layout, error) {
	l := &Layout{table: t, upsert: upsert}
	o := t.Options
	var err error
	if l.KeyFormat, l.KeyOptions, err = findFormat(r, o, "key.format", "key."); err != nil {
		return nil, err
	}
	valueOption := "format"
	if _, ok := o["value.format"]; ok || upsert {
		valueOption = "value.format"
		if _, both := o["format"]; both && !upsert {
			return nil, &spi.OptionError{Name: "format", Msg: "options 'format' and 'value.format' say the same; give one of them"}
		}
		l.valueOptionPrefix = "value."
	}
	if l.ValueFormat, l.ValueOptions, err = findFormat(r, o, valueOption, l.valueOptionPrefix); err != nil {
		return nil, err
	}
	if l.ValueFormat == nil {
		return nil, &spi.OptionError{Name: valueOption, Msg: fmt.Sprintf("option '%s' is missing: it says how values are written; known formats are %s", valueOption, strings.Join(r.Formats(), ", "))}
	}
	l.valueOptionPrefix += l.ValueFormat.Name() + "."
	include, err := o.Enum("value.fields-include", "ALL", "ALL", "EXCEPT_KEY")
	if err != nil {
		return nil, err
	}
	l.ExceptKey = include == "EXCEPT_KEY"
	l.keyPrefix = o.Get("key.fields-prefix", "")
	if err := l.findKeyFields(); err != nil {
		return nil, err
	}
	return l, l.checkMetadata()
}

// findFormat returns the format that option names, and the options that are its own.
func findFormat(r *spi.Registry, o spi.Options, option, prefix string) (spi.Format, spi.Options, error) {
	name, ok := o[option]
	if !ok {
		return nil, nil, nil
	}
	f := r.Format(name)
	if f == nil {
		msg := fmt.Sprintf("unknown format %q; known formats are %s", name, strings.Join(r.Formats(), ", "))
		if n := near.Name(name, r.Formats()); n != "" {
			msg = fmt.Sprintf("unknown format %q; did you mean %q? Known formats are %s", name, n, strings.Join(r.Formats(), ", "))
		}
		return nil, nil, &spi.OptionError{Name: option, Value: true, Msg: msg}
	}
	own := spi.Options{}
	for _, k := range o.Names() {
		// A value format's options are accepted without "value." too; the longer name wins, and sorts later.
		if n, ok := strings.CutPrefix(k, name+"."); ok && prefix != "key." {
			own[n] = o[k]
		}
		if n, ok := strings.CutPrefix(k, prefix+name+"."); ok {
			own[n] = o[k]
		}
	}
	return f, own, nil
}

func (l *Layout) findKeyFields() error {
	o := l.table.Options
	if l.upsert {
		if l.KeyFormat == nil {
			return &spi.OptionError{Name: "key.format", Msg: "option 'key.format' is missing: upsert-kafka keeps the primary key in the record's key"}
		}
		if len(l.table.PrimaryKey) == 0 {
			return &spi.OptionError{Name: "connector", Msg: "upsert-kafka needs a PRIMARY KEY (…) NOT ENFORCED: it is the record's key, by which later records replace earlier ones"}
		}
		l.KeyFields = l.table.PrimaryKey
	} else if fields, ok := o["key.fields"]; ok {
		if l.KeyFormat == nil {
			return &spi.OptionError{Name: "key.fields", Msg: "option 'key.fields' needs 'key.format', which says how the key is written"}
		}
		for _, f := range strings.Split(fields, ";") {
			i := l.column(strings.TrimSpace(f))
			if i < 0 {
				return &spi.OptionError{Name: "key.fields", Value: true, Msg: l.noColumn("key.fields", strings.TrimSpace(f))}
			}
			l.KeyFields = append(l.KeyFields, i)
		}
	} else if l.KeyFormat != nil {
		return &spi.OptionError{Name: "key.format", Msg: "option 'key.format' needs 'key.fields', which names the columns of the key"}
	}
	if l.keyPrefix != "" {
		if !l.ExceptKey {
			return &spi.OptionError{Name: "key.fields-prefix", Msg: "option 'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY': the value has no columns of these names"}
		}
		for _, i := range l.KeyFields {
			if !strings.HasPrefix(l.table.Columns[i].Name, l.keyPrefix) {
				return &spi.OptionError{Name: "key.fields-prefix", Value: true, Msg: fmt.Sprintf("key column %q does not begin with the prefix %q", l.table.Columns[i].Name, l.keyPrefix)}
			}
		}
	}
	if l.ExceptKey && len(l.KeyFields) == 0 {
		return &spi.OptionError{Name: "value.fields-include", Msg: "'value.fields-include' = 'EXCEPT_KEY' needs 'key.format' and 'key.fields'"}
	}
	return nil
}

func (l *Layout) column(name string) int {
	for i, c := range l.table.Columns {
		if c.Metadata == "" && c.Name == name {
			return i
		}
	}
	return -1
}

func (l *Layout) noColumn(option, name string) string {
	var names []string
	for _, c := range l.table.Columns {
		if c.Metadata == "" {
			names = append(names, c.Name)
		}
	}
	msg := fmt.Sprintf("option %q names %q, which is no column of the table", option, name)
	if n := near.Name(name, names); n != "" {
		msg += fmt.Sprintf("; did you mean %q?", n)
	}
	return msg
}

// metadata lists all metadata keys that the table can declare.
func (l *Layout) metadata() []spi.Column {
	all := append([]spi.Column(nil), recordMetadata...)
	for _, c := range l.ValueFormat.Metadata() {
		c.Metadata = "value." + metadataKey(c)
		c.Name, c.Virtual = c.Metadata, true
		all = append(all, c)
	}
	return all
}

// metadataKey is the key that a declaration of metadata means.
func metadataKey(c spi.Column) string {
	if c.Metadata != "" {
		return c.Metadata
	}
	return c.Name
}

func (l *Layout) checkMetadata() error {
	known := l.metadata()
	for _, c := range l.table.Columns {
		if c.Metadata == "" {
			continue
		}
		found := false
		var names []string
		for _, k := range known {
			names = append(names, k.Metadata)
			if k.Metadata != c.Metadata {
				continue
			}
			found = true
			if !strings.HasPrefix(c.Metadata, "value.") && !metadataFits(k, c) {
				return &spi.ColumnError{Column: c.Name, Msg: fmt.Sprintf("the metadata %q is of type %s and cannot be declared as %s", k.Metadata, k.Type, c.Type)}
			}
		}
		if !found {
			msg := fmt.Sprintf("unknown metadata %q; known are %s", c.Metadata, strings.Join(names, ", "))
			if n := near.Name(c.Metadata, names); n != "" {
				msg += fmt.Sprintf("; did you mean %q?", n)
			}
			return &spi.ColumnError{Column: c.Name, Msg: msg}
		}
	}
	return nil
}

// isKeyField reports whether column i of the table belongs to the key.
func (l *Layout) isKeyField(i int) bool {
	return slices.Contains(l.KeyFields, i)
}

// placeToRead says where column i of the table is read from. With the key's columns in both parts the
// value's win, as in Flink; but for upsert-kafka the key is the identity that a delete will name, so there
// it wins.
func (l *Layout) placeToRead(i int) place {
	c := l.table.Columns[i]
	switch {
	case c.Metadata != "" && !strings.HasPrefix(c.Metadata, "value."):
		return inMetadata
	case c.Metadata == "" && l.isKeyField(i) && (l.ExceptKey || l.upsert):
		return inKey
	}
	return inValue
}

// inValueToo reports whether column i of the table is written into the value.
func (l *Layout) inValueToo(i int) bool {
	return l.table.Columns[i].Metadata == "" && (!l.ExceptKey || !l.isKeyField(i))
}

// KeyColumn is column i of the table under the name that the key has for it.
func (l *Layout) KeyColumn(i int) spi.Column {
	c := l.table.Columns[i]
	c.Name = strings.TrimPrefix(c.Name, l.keyPrefix)
	return c
}

// ValueFields are the columns that the value holds.
func (l *Layout) ValueFields() []spi.Column {
	fields := []spi.Column{}
	for i, c := range l.table.Columns {
		if l.inValueToo(i) {
			fields = append(fields, c)
		}
	}
	return fields
}

// keyColumns are the columns that the key holds, in its order and with its names.
func (l *Layout) keyColumns() []spi.Column {
	fields := make([]spi.Column, len(l.KeyFields))
	for i, c := range l.KeyFields {
		fields[i] = l.KeyColumn(c)
	}
	return fields
}

// checkDecoding has the formats look at the columns that they are to read: what they cannot read is a mistake in the
// statement, and not the job's to find.
func (l *Layout) checkDecoding(mode spi.Mode) error {
	key := spi.DecodeSpec{Mode: spi.AppendOnly, TimeZone: time.UTC, Fields: l.keyColumns()}
	for i := range l.table.Columns {
		if l.placeToRead(i) == inKey {
			key.Columns = append(key.Columns, l.KeyColumn(i))
		}
	}
	value := l.ValueSpec(mode)
	for _, s := range []*spi.DecodeSpec{&key, &value} {
		s.Warn, s.Skip = func(string) {}, make([]bool, len(s.Columns))
	}
	if _, err := l.ValueFormat.NewDecoder(value, l.ValueOptions); err != nil {
		return err
	}
	if len(key.Columns) > 0 {
		if _, err := l.KeyFormat.NewDecoder(key, l.KeyOptions); err != nil {
			return err
		}
	}
	return nil
}

// ValueSpec is what the values' format is to read, but for metadata, in the mode of a scan: the fields that are the
// table's columns, with the primary key among them in mode Upsert.
func (l *Layout) ValueSpec(mode spi.Mode) spi.DecodeSpec {
	if l.upsert {
		mode = spi.AppendOnly // what upserts and deletes is the record, not its value
	}
	s := spi.DecodeSpec{Mode: mode, TimeZone: time.UTC, Fields: l.ValueFields()}
	for i, c := range l.table.Columns {
		if c.Metadata != "" || l.placeToRead(i) != inValue {
			continue // metadata is of the type that the planner gives it
		}
		if mode == spi.Upsert && slices.Contains(l.table.PrimaryKey, i) {
			s.Key = append(s.Key, len(s.Columns))
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// checkEncoding likewise, for what they are to write.
func (l *Layout) checkEncoding(mode spi.Mode) error {
	if l.upsert {
		mode = spi.AppendOnly
	}
	value := spi.EncodeSpec{Columns: l.ValueFields(), Mode: mode, TimeZone: time.UTC}
	key := spi.EncodeSpec{Columns: l.keyColumns(), Mode: spi.AppendOnly, TimeZone: time.UTC}
	if _, err := l.ValueFormat.NewEncoder(value, l.ValueOptions); err != nil {
		return err
	}
	if l.KeyFormat != nil {
		if _, err := l.KeyFormat.NewEncoder(key, l.KeyOptions); err != nil {
			return err
		}
	}
	return nil
}

// partial says how rows are completed whose events leave out values; nil where none do.
func (l *Layout) partial() (*spi.Partial, error) {
	f, ok := l.ValueFormat.(spi.PartialFormat)
	if !ok || l.upsert {
		return nil, nil
	}
	return f.Partial(l.ValueOptions, l.valueOptionPrefix, len(l.table.PrimaryKey) > 0)
}

// OneOrder reports whether a table names a topic and wants its records in one order, which several partitions have not.
func OneOrder(r *spi.Registry, t *spi.Table, topic string) bool {
	if !slices.Contains(Topics(t.Options), topic) {
		return false
	}
	l, err := ReadLayout(r, t)
	return err == nil && l.CheckPartitions(2) != nil
}

// CheckPartitions refuses a table that n partitions hold together although an option of it wants them in one order.
func (l *Layout) CheckPartitions(n int) error {
	p, err := l.partial()
	if err != nil || p == nil || p.OneOrder == "" || n < 2 {
		return err
	}
	return fault.Errorf(fault.MessageTruncate, "%s needs one partition, and the table has %d: nothing tells which rows of the others came before a TRUNCATE", p.OneOrder, n).
		Fix("have Debezium write the table to one topic of one partition, or leave the option out")
}
