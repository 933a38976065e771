package kafka

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/near"
)

// place is the part of a message that a column lies in.
type place uint8

const (
	inValue    place = iota // the value's format has it, its metadata included
	inKey                   // the key's format has it
	inMetadata              // the record itself has it
)

// layout says what lies where in the messages of a table.
type layout struct {
	table             *spi.Table
	keyFormat         spi.Format
	keyOptions        spi.Options
	valueFormat       spi.Format
	valueOptions      spi.Options
	valueOptionPrefix string // "json." or "value.json.", for remedies
	keyFields         []int  // indexes into table.Columns, in key order
	keyPrefix         string
	exceptKey         bool // the value does not hold the key's columns
	upsert            bool // upsert-kafka
}

// newLayout reads format, key.* and value.* of a table and checks them against its columns.
func newLayout(r *spi.Registry, t *spi.Table, upsert bool) (*layout, error) {
	l := &layout{table: t, upsert: upsert}
	o := t.Options
	var err error
	if l.keyFormat, l.keyOptions, err = findFormat(r, o, "key.format", "key."); err != nil {
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
	if l.valueFormat, l.valueOptions, err = findFormat(r, o, valueOption, l.valueOptionPrefix); err != nil {
		return nil, err
	}
	if l.valueFormat == nil {
		return nil, &spi.OptionError{Name: valueOption, Msg: fmt.Sprintf("option '%s' is missing: it says how values are written; known formats are %s", valueOption, strings.Join(r.Formats(), ", "))}
	}
	l.valueOptionPrefix += l.valueFormat.Name() + "."
	include, err := o.Enum("value.fields-include", "ALL", "ALL", "EXCEPT_KEY")
	if err != nil {
		return nil, err
	}
	l.exceptKey = include == "EXCEPT_KEY"
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

func (l *layout) findKeyFields() error {
	o := l.table.Options
	if l.upsert {
		if l.keyFormat == nil {
			return &spi.OptionError{Name: "key.format", Msg: "option 'key.format' is missing: upsert-kafka keeps the primary key in the record's key"}
		}
		if len(l.table.PrimaryKey) == 0 {
			return &spi.OptionError{Name: "connector", Msg: "upsert-kafka needs a PRIMARY KEY (…) NOT ENFORCED: it is the record's key, by which later records replace earlier ones"}
		}
		l.keyFields = l.table.PrimaryKey
	} else if fields, ok := o["key.fields"]; ok {
		if l.keyFormat == nil {
			return &spi.OptionError{Name: "key.fields", Msg: "option 'key.fields' needs 'key.format', which says how the key is written"}
		}
		for _, f := range strings.Split(fields, ";") {
			i := l.column(strings.TrimSpace(f))
			if i < 0 {
				return &spi.OptionError{Name: "key.fields", Value: true, Msg: l.noColumn("key.fields", strings.TrimSpace(f))}
			}
			l.keyFields = append(l.keyFields, i)
		}
	} else if l.keyFormat != nil {
		return &spi.OptionError{Name: "key.format", Msg: "option 'key.format' needs 'key.fields', which names the columns of the key"}
	}
	if l.keyPrefix != "" {
		if !l.exceptKey {
			return &spi.OptionError{Name: "key.fields-prefix", Msg: "option 'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY': the value has no columns of these names"}
		}
		for _, i := range l.keyFields {
			if !strings.HasPrefix(l.table.Columns[i].Name, l.keyPrefix) {
				return &spi.OptionError{Name: "key.fields-prefix", Value: true, Msg: fmt.Sprintf("key column %q does not begin with the prefix %q", l.table.Columns[i].Name, l.keyPrefix)}
			}
		}
	}
	if l.exceptKey && len(l.keyFields) == 0 {
		return &spi.OptionError{Name: "value.fields-include", Msg: "'value.fields-include' = 'EXCEPT_KEY' needs 'key.format' and 'key.fields'"}
	}
	return nil
}

func (l *layout) column(name string) int {
	for i, c := range l.table.Columns {
		if c.Metadata == "" && c.Name == name {
			return i
		}
	}
	return -1
}

func (l *layout) noColumn(option, name string) string {
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
func (l *layout) metadata() []spi.Column {
	all := append([]spi.Column(nil), recordMetadata...)
	for _, c := range l.valueFormat.Metadata() {
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

func (l *layout) checkMetadata() error {
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
func (l *layout) isKeyField(i int) bool {
	for _, k := range l.keyFields {
		if k == i {
			return true
		}
	}
	return false
}

// placeToRead says where column i of the table is read from. With the key's columns in both parts the
// value's win, as in Flink; but for upsert-kafka the key is the identity that a delete will name, so there
// it wins.
func (l *layout) placeToRead(i int) place {
	c := l.table.Columns[i]
	switch {
	case c.Metadata != "" && !strings.HasPrefix(c.Metadata, "value."):
		return inMetadata
	case c.Metadata == "" && l.isKeyField(i) && (l.exceptKey || l.upsert):
		return inKey
	}
	return inValue
}

// inValueToo reports whether column i of the table is written into the value.
func (l *layout) inValueToo(i int) bool {
	return l.table.Columns[i].Metadata == "" && (!l.exceptKey || !l.isKeyField(i))
}

// keyColumn is column i of the table under the name that the key has for it.
func (l *layout) keyColumn(i int) spi.Column {
	c := l.table.Columns[i]
	c.Name = strings.TrimPrefix(c.Name, l.keyPrefix)
	return c
}

// valueFields are the columns that the value holds.
func (l *layout) valueFields() []spi.Column {
	fields := []spi.Column{}
	for i, c := range l.table.Columns {
		if l.inValueToo(i) {
			fields = append(fields, c)
		}
	}
	return fields
}

// keyColumns are the columns that the key holds, in its order and with its names.
func (l *layout) keyColumns() []spi.Column {
	fields := make([]spi.Column, len(l.keyFields))
	for i, c := range l.keyFields {
		fields[i] = l.keyColumn(c)
	}
	return fields
}

// checkDecoding has the formats look at the columns that they are to read: what they cannot read is a mistake in the
// statement, and not the job's to find.
func (l *layout) checkDecoding(mode spi.Mode) error {
	if l.upsert {
		mode = spi.AppendOnly
	}
	quiet := func(string) {}
	value := spi.DecodeSpec{Mode: mode, TimeZone: time.UTC, Warn: quiet}
	key := spi.DecodeSpec{Mode: spi.AppendOnly, TimeZone: time.UTC, Warn: quiet}
	for i, c := range l.table.Columns {
		if c.Metadata != "" {
			continue // of the type that the planner gives it
		}
		switch l.placeToRead(i) {
		case inKey:
			key.Columns = append(key.Columns, l.keyColumn(i))
		case inValue:
			value.Columns = append(value.Columns, c)
		}
	}
	value.Fields, key.Fields = l.valueFields(), l.keyColumns()
	value.Skip, key.Skip = make([]bool, len(value.Columns)), make([]bool, len(key.Columns))
	if _, err := l.valueFormat.NewDecoder(value, l.valueOptions); err != nil {
		return err
	}
	if len(key.Columns) > 0 {
		if _, err := l.keyFormat.NewDecoder(key, l.keyOptions); err != nil {
			return err
		}
	}
	return nil
}

// checkEncoding likewise, for what they are to write.
func (l *layout) checkEncoding(mode spi.Mode) error {
	if l.upsert {
		mode = spi.AppendOnly
	}
	value := spi.EncodeSpec{Columns: l.valueFields(), Mode: mode, TimeZone: time.UTC}
	key := spi.EncodeSpec{Columns: l.keyColumns(), Mode: spi.AppendOnly, TimeZone: time.UTC}
	if _, err := l.valueFormat.NewEncoder(value, l.valueOptions); err != nil {
		return err
	}
	if l.keyFormat != nil {
		if _, err := l.keyFormat.NewEncoder(key, l.keyOptions); err != nil {
			return err
		}
	}
	return nil
}
