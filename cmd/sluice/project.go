package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/cmd/sluice/internal/pipeline"
	"github.com/sluicesql/sluice/cmd/sluice/internal/vars"
	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/ast"
)

// environmentFlag is the flag --env.
type environmentFlag string

func (e *environmentFlag) add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(e), "env", "", "run a pipeline's folder in `ENVIRONMENT` of its sluice.yaml; default its default-environment")
}

// refuse is the error of an environment that is asked for where there is no pipeline to have it.
func (e environmentFlag) refuse() error {
	return wrong(fault.Errorf(fault.CommandLine, "--env %s is for the folder of a pipeline; these are SQL files", string(e)).Fix("name the folder of its sluice.yaml, or leave --env out"))
}

// project is what a command line names: SQL files, or the folder of a pipeline, which stands for its files and says
// how they run.
type project struct {
	files []string
	// pipeline and settings are nil for plain files.
	pipeline *pipeline.Pipeline
	settings *pipeline.Settings
}

// open finds what the arguments of a command name.
func (s sourceTexts) open(args []string, env environmentFlag) (*project, error) {
	folder := ""
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && info.IsDir() {
			folder = a
		}
	}
	switch {
	case folder == "" && env != "":
		return nil, env.refuse()
	case folder == "":
		return &project{files: args}, nil
	case len(args) > 1:
		return nil, wrong(fault.Errorf(fault.CommandLine, "%s is a folder", folder).
			Fix("name it alone, or SQL files"))
	}
	return s.openPipeline(folder, env)
}

// show keeps the text of a file that has no variables, for the lines that errors show.
func (s sourceTexts) show(file, text string) {
	s.texts.keep(&vars.Text{File: file, Original: text, Expanded: text})
}

// loadPipeline reads a pipeline's sluice.yaml.
func (s sourceTexts) loadPipeline(folder string) (*pipeline.Pipeline, error) {
	p, err := pipeline.Load(folder)
	s.show(p.Path, p.Text)
	if err != nil {
		return nil, wrong(err)
	}
	return p, nil
}

// openPipeline reads a pipeline's sluice.yaml for an environment.
func (s sourceTexts) openPipeline(folder string, env environmentFlag) (*project, error) {
	p, err := s.loadPipeline(folder)
	if err != nil {
		return nil, err
	}
	return inEnvironment(p, env)
}

// inEnvironment is a pipeline as it runs in an environment.
func inEnvironment(p *pipeline.Pipeline, env environmentFlag) (*project, error) {
	settings, err := p.In(string(env))
	if err != nil {
		return nil, wrong(fmt.Errorf("--env: %w", err))
	}
	return &project{files: p.SQL, pipeline: p, settings: settings}, nil
}

// variables are the variables and secrets of the pipeline. The values of the secrets are never shown from here on.
func (p *project) variables(s sourceTexts) (map[string]string, error) {
	if p.settings == nil {
		return map[string]string{}, nil
	}
	values, err := p.settings.Resolve()
	if err != nil {
		return nil, wrong(fmt.Errorf("%s: %w", p.pipeline.Path, err))
	}
	for _, v := range values {
		s.secrets.Add(v)
	}
	maps.Copy(values, p.settings.Variables)
	return values, nil
}

// placeholders are the variables of a pipeline's folder, with a word in the place of every secret of any environment.
func (p *project) placeholders() map[string]string {
	out := maps.Clone(p.settings.Variables)
	for _, name := range p.pipeline.SecretNames() {
		out[name] = placeholderSecret
	}
	return out
}

// placeholderSecret stands for a secret where nothing connects.
const placeholderSecret = "placeholder-of-a-secret"

// embed are the files of records that the pipeline runs on.
func (p *project) embed() []string {
	if p.settings == nil {
		return nil
	}
	return p.settings.Embed
}

// apply sets the session options that the pipeline sets, as SET before its first statement.
func (p *project) apply(s *planner.Session) error {
	if p.settings == nil {
		return nil
	}
	set := func(what, key, value string) error {
		err := s.SetOption(key, value)
		if err == nil {
			return nil
		}
		msg, hint := err.Error(), ""
		if e, ok := errors.AsType[*ast.Error](err); ok {
			msg, hint = e.Msg, e.Hint
		}
		return wrong(&ast.Error{Msg: p.pipeline.Path + ": " + what + ": " + msg, Hint: hint, Code: fault.Pipeline})
	}
	own := []struct{ what, key, value string }{
		{"name", planner.OptPipelineName, p.pipeline.Name},
		{"checkpoint-interval", planner.OptCheckpointInterval, p.settings.CheckpointInterval},
		{"state-directory", planner.OptCheckpointDir, p.settings.StateDir},
	}
	if n := p.settings.Parallelism; n > 0 {
		own = append(own, struct{ what, key, value string }{"parallelism", planner.OptParallelism, fmt.Sprint(n)})
	}
	for _, o := range own {
		if o.value == "" {
			continue
		}
		if err := set(o.what, o.key, o.value); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.settings.Options)) {
		if err := s.SetOptionAt(p.settings.Options[key]); err != nil {
			return wrong(err)
		}
	}
	return nil
}

// embeddedBroker is what names the broker inside the process where none is started.
const embeddedBroker = "embedded:9092"

// prepare reads what a command names, and makes the session in which its statements are to be planned.
func (s sourceTexts) prepare(args []string, env environmentFlag, variables variableFlag, options optionFlag) (*planner.Session, []ast.Statement, error) {
	p, err := s.open(args, env)
	if err != nil {
		return nil, nil, err
	}
	given, err := p.variables(s)
	if err != nil {
		return nil, nil, err
	}
	if len(p.embed()) > 0 {
		given[brokersVariable] = embeddedBroker // nothing connects
	}
	set, err := variables.set(given)
	if err != nil {
		return nil, nil, err
	}
	stmts, err := s.parse(p.files, set)
	if err != nil {
		return nil, nil, err
	}
	session := planner.NewSession(newRegistry(io.Discard, io.Discard))
	if err := p.apply(session); err != nil {
		return nil, nil, err
	}
	return session, stmts, options.apply(session)
}
