package planner

import (
	"slices"

	"github.com/sluicesql/sluice/sql/ast"
)

// likeParts are the parts of a table that LIKE can copy, with what Flink does by default.
var likeParts = map[string]string{
	"CONSTRAINTS": "INCLUDING",
	"GENERATED":   "INCLUDING",
	"METADATA":    "INCLUDING",
	"OPTIONS":     "OVERWRITING",
	"WATERMARKS":  "INCLUDING",
	// Tables with these parts cannot be created, so there is nothing to copy.
	"DISTRIBUTION": "INCLUDING",
	"PARTITIONS":   "INCLUDING",
}

// expandLike merges CREATE TABLE … LIKE with the table it names into a statement without LIKE.
func (s *Session) expandLike(ct *ast.CreateTable) (*ast.CreateTable, error) {
	if ct.Like == nil {
		return ct, nil
	}
	name, err := s.catalog.local(ct.Like.Table)
	if err != nil {
		return nil, err
	}
	base := s.catalog.tables[name]
	if base == nil {
		return nil, s.catalog.unknown(ct.Like.Table, "table", s.catalog.tableNames())
	}
	how, err := likeModes(ct.Like)
	if err != nil {
		return nil, err
	}
	out := *ct
	out.Like = nil
	if out.Columns, err = likeColumns(ct, base.stmt, how); err != nil {
		return nil, err
	}
	if base.stmt.PrimaryKey != nil && how["CONSTRAINTS"] != "EXCLUDING" {
		if ct.PrimaryKey != nil {
			return nil, hint(errAt(ct.PrimaryKey.Pos, "the table has a primary key of its own and one by LIKE").Coded(ast.CodeDuplicateName), "write EXCLUDING CONSTRAINTS")
		}
		out.PrimaryKey = base.stmt.PrimaryKey
	}
	if base.stmt.Watermark != nil && how["WATERMARKS"] != "EXCLUDING" {
		if ct.Watermark == nil {
			out.Watermark = base.stmt.Watermark
		} else if how["WATERMARKS"] != "OVERWRITING" {
			return nil, hint(errAt(ct.Watermark.Pos, "the table has a watermark of its own and one by LIKE").Coded(ast.CodeDuplicateName), "write OVERWRITING WATERMARKS or EXCLUDING WATERMARKS")
		}
	}
	out.Options, err = likeOptions(ct, base.stmt, how["OPTIONS"])
	return &out, err
}

// likeModes are the words for each part.
func likeModes(l *ast.LikeTable) (map[string]string, error) {
	how := map[string]string{}
	for k, v := range likeParts {
		how[k] = v
	}
	for _, o := range l.Options {
		if o.What == "ALL" {
			for k := range how {
				how[k] = o.Merge
			}
		}
	}
	for _, o := range l.Options {
		if o.What != "ALL" {
			how[o.What] = o.Merge
		}
		if o.Merge == "OVERWRITING" && (o.What == "CONSTRAINTS" || o.What == "PARTITIONS" || o.What == "DISTRIBUTION") {
			return nil, errAt(o.Pos, "%s can be included or excluded, not overwritten", o.What)
		}
	}
	return how, nil
}

// likeColumns are the columns of the table named by LIKE, then the new ones.
func likeColumns(ct, base *ast.CreateTable, how map[string]string) ([]*ast.Column, error) {
	var out []*ast.Column
	for _, c := range base.Columns {
		part := ""
		switch c.Kind {
		case ast.ComputedColumn:
			part = "GENERATED"
		case ast.MetadataColumn:
			part = "METADATA"
		}
		if how[part] == "EXCLUDING" {
			continue
		}
		own := slices.IndexFunc(ct.Columns, func(o *ast.Column) bool { return o.Name.Name == c.Name.Name })
		if own < 0 {
			out = append(out, c)
		} else if how[part] != "OVERWRITING" || ct.Columns[own].Kind != c.Kind {
			return nil, errAt(ct.Columns[own].Name.Pos, "the column %q comes by LIKE already", c.Name.Name).Coded(ast.CodeDuplicateName)
		}
	}
	return append(out, ct.Columns...), nil
}

// likeOptions are the merged options.
func likeOptions(ct, base *ast.CreateTable, how string) ([]ast.Option, error) {
	if how == "EXCLUDING" {
		return ct.Options, nil
	}
	var out []ast.Option
	for _, o := range base.Options {
		own := slices.IndexFunc(ct.Options, func(n ast.Option) bool { return n.Key == o.Key })
		if own < 0 {
			out = append(out, o)
		} else if how != "OVERWRITING" {
			return nil, hint(errAt(ct.Options[own].KeyPos, "the option %q comes by LIKE already", o.Key).Coded(ast.CodeDuplicateName), "write OVERWRITING OPTIONS")
		}
	}
	return append(out, ct.Options...), nil
}
