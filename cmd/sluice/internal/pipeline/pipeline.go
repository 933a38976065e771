// Package pipeline reads what sluice.yaml says of the pipeline in its folder: the SQL files in order, and for each
// environment the variables, the secrets by reference, and how the job is to run.
package pipeline

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
	"github.com/sluicesql/sluice/sql/ast"
)

// FileName is the name of the file that makes a folder a pipeline.
const FileName = "sluice.yaml"

// Pipeline is a folder with a sluice.yaml.
type Pipeline struct {
	// Dir is the folder, Path its sluice.yaml, Text what that holds.
	Dir, Path, Text string
	Name            string
	// SQL are the files of the script, in order, with Dir before them.
	SQL []string
	// Default is the environment where none is asked for; empty for the pipeline's own settings alone.
	Default string

	base         Settings
	environments map[string]*Settings
}

// Settings are what an environment may set. The zero value of each says nothing. Paths have the folder before them.
type Settings struct {
	Variables map[string]string
	Secrets   map[string]Reference
	// Options are session options by name, as those of SET.
	Options     map[string]ast.Option
	Parallelism int
	// CheckpointInterval is a duration in the form of options.
	CheckpointInterval string
	StateDir           string
	// Embed are files of records: with any, the environment runs on a broker inside the process.
	Embed []string
}

// Reference says where the value of a secret is. One of the two is set.
type Reference struct {
	// Env names a variable of the process's environment.
	Env string
	// File names a file that holds the value; a line break at its end does not count.
	File string
}

// Find is the pipeline to which a file or folder belongs: that of the nearest folder, from path upwards, that has a
// sluice.yaml. It is empty when there is none.
func Find(path string) (dir string) {
	at, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for dir = path; ; dir = filepath.Join(dir, "..") {
		if Is(dir) {
			return dir
		}
		if parent := filepath.Dir(at); parent != at {
			at = parent
			continue
		}
		return ""
	}
}

// Is reports whether a folder is a pipeline.
func Is(dir string) bool { return isFile(filepath.Join(dir, FileName)) }

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Load reads the pipeline in dir. Mistakes in its sluice.yaml are an ast.ErrorList; the Pipeline is returned with them,
// for its Path and Text.
func Load(dir string) (*Pipeline, error) {
	p := &Pipeline{Dir: dir, Path: filepath.Join(dir, FileName)}
	b, err := os.ReadFile(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if other := strings.TrimSuffix(p.Path, ".yaml") + ".yml"; isFile(other) {
			return p, fault.Errorf(fault.File, "%s is a directory without a %s", dir, FileName).
				Fix("rename %s", other)
		}
		return p, fault.Errorf(fault.File, "%s is a directory without a %s", dir, FileName).
			Fix("name the SQL files in it, or make it a pipeline by sluice init")
	}
	if err != nil {
		return p, err
	}
	p.Text = string(b)
	return p, p.decode()
}

// Environments are the names of the environments, in order.
func (p *Pipeline) Environments() []string { return slices.Sorted(maps.Keys(p.environments)) }

// In are the settings in an environment, or in the default one when env is empty: those of the pipeline, with those of
// the environment over them.
func (p *Pipeline) In(env string) (*Settings, error) {
	if env == "" {
		env = p.Default
	}
	if env == "" {
		return p.base.over(&Settings{}), nil
	}
	if s := p.environments[env]; s != nil {
		return p.base.over(s), nil
	}
	names := p.Environments()
	switch known := near.Name(env, names); {
	case known != "":
		return nil, fault.Errorf(fault.Pipeline, "%s has no environment %q", p.Path, env).
			Fix("did you mean %q?", known)
	case len(names) == 0:
		return nil, fault.Errorf(fault.Pipeline, "%s has no environment %q", p.Path, env).
			Fix("it declares none")
	default:
		return nil, fault.Errorf(fault.Pipeline, "%s has no environment %q", p.Path, env).
			Fix("it has %s", list(names))
	}
}

// over is s with what e sets in its place. Variables, secrets and options are added to each other; a name that e sets
// as a variable is no secret of s any more, nor the other way round.
func (s *Settings) over(e *Settings) *Settings {
	out := *s
	out.Variables, out.Secrets = joined(s.Variables, e.Variables), joined(s.Secrets, e.Secrets)
	out.Options = joined(s.Options, e.Options)
	for name := range e.Variables {
		delete(out.Secrets, name)
	}
	for name := range e.Secrets {
		delete(out.Variables, name)
	}
	if e.Parallelism > 0 {
		out.Parallelism = e.Parallelism
	}
	if e.CheckpointInterval != "" {
		out.CheckpointInterval = e.CheckpointInterval
	}
	if e.StateDir != "" {
		out.StateDir = e.StateDir
	}
	if e.Embed != nil {
		out.Embed = e.Embed
	}
	return &out
}

func joined[V any](a, b map[string]V) map[string]V {
	out := make(map[string]V, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// NameOf makes a pipeline's name of a folder's: what a name cannot have becomes a hyphen.
func NameOf(folder string) string {
	name := strings.Trim(unnamable.ReplaceAllString(folder, "-"), "._-")
	if name == "" {
		return "pipeline"
	}
	return name
}

var unnamable = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
