package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/findings"
	"github.com/sluicesql/sluice/connectors/format/debezium"
	"github.com/sluicesql/sluice/connectors/format/infer"
	jsonformat "github.com/sluicesql/sluice/connectors/format/json"
	"github.com/sluicesql/sluice/connectors/kafka"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// sampleFlags are the flags of sluice check that look into topics.
type sampleFlags struct {
	n     int
	embed embedFlag
}

func (s *sampleFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&s.n, "sample", 0, "connect, and hold the columns of each source against `N` messages of its topic")
	s.embed.add(flags, "for --sample: ")
}

func (s *sampleFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("sample"):
		return checkSample("sample", s.n)
	case len(s.embed) > 0:
		return wrong(fmt.Errorf("--embed: nothing is read without --sample N"))
	}
	return nil
}

// samples holds the sources of a script against samples of their topics.
func (c *checker) samples(broker *localBroker, script *planner.Script, registry *spi.Registry, stmts []ast.Statement) (found []findings.Finding, err error) {
	for _, t := range sources(script) {
		layout, err := kafka.ReadLayout(registry, t)
		if err != nil {
			return nil, &failure{exitFailed, fmt.Errorf("table %s: %w", t.Name, err)}
		}
		format := layout.ValueFormat
		if format.Name() != debezium.Name && format.Name() != jsonformat.Name {
			continue // columns are no fields
		}
		mode, canUpsert := format.Decodes()
		spec := layout.ValueSpec(mode)
		if canUpsert && len(t.PrimaryKey) > 0 && !layout.ExceptKey {
			spec = layout.ValueSpec(spi.Upsert)
		}
		sampled, err := sample(context.Background(), broker.open(t).Options, c.sample.n)
		if err != nil {
			return nil, &failure{exitFailed, fmt.Errorf("table %s: %w", t.Name, err)}
		}
		r, err := infer.Check(format, spec, layout.ValueOptions, messagesOf(sampled))
		if err != nil {
			return nil, &failure{exitFailed, fmt.Errorf("table %s: %w", t.Name, err)}
		}
		if c.reported {
			if err := writeReport(c, t, r); err != nil {
				return nil, &failure{exitFailed, err}
			}
		}
		skips, err := spi.SkipsErrors(layout.ValueOptions)
		if err != nil {
			return nil, wrong(err)
		}
		if spec.Mode == spi.Upsert {
			if err := layout.CheckPartitions(sampled.Partitions); err != nil {
				msg, code, hint := fault.Split(err)
				e := &ast.Error{Pos: columnPlace(stmts, t.Name, ""), Msg: fmt.Sprintf("table %s: %s", t.Name, msg), Code: code, Hint: hint}
				found = append(found, findings.Finding{Severity: findings.Error, Error: c.sources.locateOne(e)})
			}
		}
		for i := range r.Columns {
			found = append(found, c.sampledColumn(t, r, &r.Columns[i], skips, stmts)...)
		}
	}
	return found, nil
}

// sources are the tables that a script's jobs read from Kafka, each once.
func sources(script *planner.Script) (tables []*spi.Table) {
	for _, step := range script.Steps {
		j, ok := step.(*planner.Job)
		if !ok {
			continue
		}
		for _, in := range j.Plan.Inputs() {
			s, ok := in.Node.(*planner.Scan)
			if !ok {
				continue
			}
			t := s.Spec.Table
			same := func(u *spi.Table) bool { return u.Name == t.Name }
			if c := t.Options["connector"]; (c == "kafka" || c == "upsert-kafka") && !slices.ContainsFunc(tables, same) {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// writeReport writes what a sample showed of a table's columns.
func writeReport(c *checker, t *spi.Table, r *infer.Report) error {
	topic := t.Options["topic"]
	if topic == "" {
		topic = t.Options["topic-pattern"]
	}
	if _, err := fmt.Fprintf(c.report, "%s, from %s: %s\n", t.Name, topic, r.Messages); err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.report, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, "  column\ttype\tpresent\tnull\tnot sent\tfailing"); err != nil {
		return err
	}
	for _, col := range r.Columns {
		if _, err := fmt.Fprintf(w, "  %s\t%s\t%d of %d\t%d\t%d\t%d\n", col.Name, col.Type.Nullable(), col.Present, r.Rows, col.Null, col.Unsent, col.Failing); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.Undeclared) > 0 {
		_, err := fmt.Fprintf(c.report, "  not declared: %s\n", strings.Join(r.Undeclared, ", "))
		return err
	}
	return nil
}

// sampledColumn are the findings of a column. A value that cannot be read is an error unless the table skips such messages.
func (c *checker) sampledColumn(t *spi.Table, r *infer.Report, col *infer.ColumnReport, skips bool, stmts []ast.Statement) (found []findings.Finding) {
	add := func(s findings.Severity, code fault.Code, msg, hint string) {
		e := &ast.Error{Pos: columnPlace(stmts, t.Name, col.Name), Msg: fmt.Sprintf("column %s of table %s: %s", col.Name, t.Name, msg), Hint: hint, Code: code}
		found = append(found, findings.Finding{Severity: s, Error: c.sources.locateOne(e)})
	}
	if col.Present == 0 && r.Rows > 0 {
		hint := "fields without a column are: " + strings.Join(r.Undeclared, ", ")
		switch {
		case col.Near != "":
			hint = fmt.Sprintf("did you mean `%s`?", col.Near)
		case len(r.Undeclared) == 0:
			hint = "it is NULL in every row"
		}
		add(findings.Warning, fault.MessageAbsent, fmt.Sprintf("none of %d rows has this field", r.Rows), hint)
	}
	if col.Failing > 0 {
		severity := findings.Error
		if skips {
			severity = findings.Warning
		}
		first, code, fix := fault.Split(col.First)
		add(severity, code, fmt.Sprintf("%d values cannot be read as %s, the first: %s", col.Failing, col.Type.Nullable(), first), fix)
	}
	if col.Unit != "" {
		add(findings.Warning, fault.MessageUnit, col.Unit, "")
	}
	return found
}

// columnPlace is where a column is declared; the zero place when it is not in these statements.
func columnPlace(stmts []ast.Statement, table, column string) ast.Pos {
	for _, st := range stmts {
		create, ok := st.(*ast.CreateTable)
		if !ok {
			continue
		}
		if create.Name.Base().Name != table {
			continue
		}
		for _, col := range create.Columns {
			if col.Name.Name == column {
				return col.Name.Pos
			}
		}
		return create.Pos
	}
	return ast.Pos{}
}
