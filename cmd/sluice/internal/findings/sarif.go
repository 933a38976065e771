package findings

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"

	"github.com/sluicesql/sluice/sql/ast"
)

// The parts of SARIF 2.1.0 that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               ast.Code  `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    ast.Code        `json:"ruleId,omitempty"`
		Level     Severity        `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

// uri is a path as a URI reference, relative where the path is.
func uri(path string) string { return (&url.URL{Path: filepath.ToSlash(path)}).String() }

func writeSARIF(out io.Writer, list []Finding) error {
	// Columns count characters, as those of SQL errors do.
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "sluice", Rules: []sarifRule{}}
	seen := map[ast.Code]bool{}
	for _, f := range list {
		if f.Code != "" && !seen[f.Code] {
			seen[f.Code] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.Code, sarifText{ast.Sentence(f.Code)}})
		}
		at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri(f.Pos.File)}}}
		if f.Pos.IsValid() {
			at.Physical.Region = &sarifRegion{f.Pos.Line, f.Pos.Col}
		}
		run.Results = append(run.Results, sarifResult{f.Code, f.Severity, sarifText{f.text()}, []sarifLocation{at}})
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
