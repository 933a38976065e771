package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/planner"
)

func (j *Job) jobName() string { return j.cfg.Redact(j.cfg.Plan.Options[planner.OptPipelineName]) }

// runName tells running jobs apart: those restored from savepoints have the id of the job that the savepoint is of, and
// may run beside it.
func runName(id, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return id + "-" + hex.EncodeToString(sum[:4])
}

// jobsDir is the folder in which the running jobs of a user are noted: a file for each, with its runName, that holds
// the path of its state directory.
func jobsDir() string {
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		return filepath.Join(d, "sluice")
	}
	return filepath.Join(os.TempDir(), "sluice-"+strconv.Itoa(os.Getuid()))
}

// register notes a running job, and returns the file to remove when it ends.
func register(name, dir string) (string, error) {
	jobs := jobsDir()
	if err := os.MkdirAll(jobs, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(jobs, name)
	return file, os.WriteFile(file, []byte(dir), 0o600)
}

// Jobs are the running jobs of this user, in the order of their start; before them those that do not answer, of which no
// more than id and directory is known. What jobs that died left behind is removed.
func Jobs() ([]*Status, error) {
	entries, err := os.ReadDir(jobsDir())
	if err != nil {
		if os.IsNotExist(err) {
			return nil, nil
		}
		return nil, err
	}
	asked := make([]*Status, len(entries)) // nil where none runs
	var all sync.WaitGroup
	for i, e := range entries {
		all.Go(func() { asked[i] = registered(filepath.Join(jobsDir(), e.Name())) })
	}
	all.Wait()
	jobs := slices.DeleteFunc(asked, func(s *Status) bool { return s == nil })
	slices.SortStableFunc(jobs, func(a, b *Status) int { return a.Started.Compare(b.Started) })
	return jobs, nil
}

// registered asks the job that a file of jobsDir notes; nil when it has ended.
func registered(file string) *Status {
	dir, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	r, err := Dial(string(dir))
	if err != nil {
		_ = os.Remove(file)
		return nil
	}
	s, err := r.Status()
	if err == nil {
		return s
	}
	if _, err := Dial(string(dir)); err != nil { // it has ended meanwhile
		return nil
	}
	id, _, _ := strings.Cut(filepath.Base(file), "-")
	return &Status{Job: id, Dir: string(dir), Silent: true}
}

// FindJob is the running job that a person means by its id, the beginning of its id, its name or its state
// directory.
func FindJob(what string) (*Remote, error) {
	if info, err := os.Stat(what); err == nil && info.IsDir() {
		return Dial(what)
	}
	jobs, err := Jobs()
	if err != nil {
		return nil, err
	}
	var found []*Status
	var known []string
	for _, s := range jobs {
		known = append(known, s.String())
		if s.Name == what || len(what) >= 4 && strings.HasPrefix(s.Job, what) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return Dial(found[0].Dir)
	case len(found) > 1:
		return nil, fault.Errorf(fault.JobUnknown, "%d running jobs are called %q", len(found), what).
			Fix("name one by its id or state directory")
	case len(known) == 0:
		return nil, fault.Errorf(fault.JobUnknown, "no job %q runs: no job with a state directory does", what).
			Fix("a job started without --state-dir cannot be asked for anything")
	}
	return nil, fault.Errorf(fault.JobUnknown, "no job %q runs, and %s is no directory", what, what).
		Fix("running are %s", strings.Join(known, ", "))
}

// String names a job.
func (s *Status) String() string {
	if s.Name != "" {
		return fmt.Sprintf("%s (%s)", s.Name, s.Dir)
	}
	return s.Dir
}
