package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
)

// The examples of sluice.yaml in the pages are read as they stand.
func TestDocsYAML(t *testing.T) {
	read := 0
	for _, page := range pagesOf(t, docs...) {
		for _, b := range blocksOf(t, page) {
			if b.info != "yaml sluice.yaml" {
				continue
			}
			read++
			file := filepath.Join(t.TempDir(), pipeline.FileName)
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := pipeline.Load(filepath.Dir(file)); err != nil {
				t.Errorf("%s:%d: %v", page, b.line, err)
			}
		}
	}
	if read == 0 {
		t.Error("no page has a sluice.yaml")
	}
}

// The commands of the workflow in docs/howto/ci.md run as they stand, in a repository that holds a new pipeline.
func TestWorkflow(t *testing.T) {
	ran := 0
	for _, b := range blocksOf(t, "docs/howto/ci.md") {
		if b.info != "yaml workflow" {
			continue
		}
		var w struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		if err := yaml.Unmarshal([]byte(b.text), &w); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		sluice(t, dir, "", "init", "pipelines/shop").succeeded(t)
		for _, s := range w.Jobs["pipelines"].Steps {
			if s.Run == "" || strings.HasPrefix(s.Run, "go install ") {
				continue
			}
			runScript(t, dir, s.Run).succeeded(t)
			ran++
		}
	}
	if ran != 4 {
		t.Errorf("%d commands were run", ran)
	}
}
