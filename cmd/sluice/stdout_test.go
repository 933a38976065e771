package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// stdoutFiles are what the commands of TestStandardOutput work on, beside the examples.
var stdoutFiles = map[string]string{
	"old.sql":      "SELECT 1 AS one;\n",
	"new.sql":      "SELECT 1 AS one, 2 AS two;\n",
	"wrong.sql":    "SELEC 1;\nselect nothing FROM nowhere;\n",
	"laid-out.sql": "SELECT   1 AS one;\n",
}

const usersSQL = `
CREATE TABLE users (id INT NOT NULL, firstname STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'pg.public.users',
  'properties.bootstrap.servers' = '${KAFKA_BROKERS}', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'debezium-json');
CREATE TABLE shown (id INT, firstname STRING, n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO shown SELECT u.id, u.firstname, v.n FROM users u JOIN (SELECT id, COUNT(*) AS n FROM users GROUP BY id) v ON u.id = v.id;
`

// A reader of standard output that goes away has seen enough: no command calls that an error, and its exit code is what
// it would have been. A standard output that cannot be written is an error of every command.
func TestStandardOutput(t *testing.T) {
	running, stopped := filepath.Join(t.TempDir(), "running"), filepath.Join(t.TempDir(), "stopped")
	job := start(t, strings.ReplaceAll(joinedSQL, "-%s", t.Name()), "run", "--parallelism", "1", "--state-dir", running, "-")
	t.Cleanup(func() { job.signal(syscall.SIGTERM); job.end() })
	broker := "KAFKA_BROKERS=" + startTroubled(t, "", string(read(t, filepath.Join(repository(t), "examples/users-domains/events.jsonl"))))
	sluice(t, t.TempDir(), usersSQL, "run", "--set-var", broker, "--state-dir", stopped, "-").succeeded(t)
	waitFor(t, "RUNNING", "status", running)

	const records, pipeline = "examples/users-domains/events.jsonl", "examples/users-domains/pipeline.sql"
	printing := map[string][][]string{ // by command, arguments after its name
		"sluice":                       {{}, {"--help"}},
		"sluice help":                  {{"run"}},
		"sluice completion bash":       {{}},
		"sluice completion fish":       {{}},
		"sluice completion powershell": {{}},
		"sluice completion zsh":        {{}},
		"sluice check":                 {{"wrong.sql"}, {"--format", "json", "wrong.sql"}, {"--format", "sarif", "wrong.sql"}, {"--sample", "3", "--embed", records, pipeline}},
		"sluice diff":                  {{"old.sql", "new.sql"}},
		"sluice explain":               {{pipeline}, {"--format", "svg", pipeline}, {"--analyze", "--embed", records, pipeline}},
		"sluice fmt":                   {{"--check", "laid-out.sql"}, {"--diff", "laid-out.sql"}, {"-"}},
		"sluice infer":                 {{"--embed", records, "pg.public.users"}},
		"sluice init":                  {{"new"}},
		"sluice jobs":                  {{}, {"--format", "json"}},
		"sluice run":                   {{"--quiet", "-"}},
		"sluice sql":                   {{"-e", "SELECT 1 AS one"}, {"-e", `\?`}},
		"sluice state":                 {{}},
		"sluice state info":            {{running}},
		"sluice status":                {{running}, {"--format", "json", running}},
		"sluice sweep":                 {{"--set-var", broker, "--table", "users", "--since-timestamp", "0", stopped, "-"}},
		"sluice test":                  {{"examples/users-domains"}, {"--format", "junit", "examples/users-domains"}},
		"sluice version":               {{}},
	}
	silent := map[string]bool{"sluice man": true, "sluice pause": true, "sluice resume": true, "sluice savepoint": true, "sluice stop": true}
	stdin := map[string]string{"sluice run": stdoutFiles["old.sql"], "sluice fmt": stdoutFiles["old.sql"], "sluice sweep": usersSQL}

	gone, left, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { left.Close() })
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	unwritable, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unwritable.Close() })

	root := newRoot(newSourceTexts())
	root.InitDefaultCompletionCmd("")
	root.InitDefaultHelpCmd()
	for _, name := range runnable(root) {
		if printing[name] == nil && !silent[name] {
			t.Errorf("%s is tried by nothing here", name)
		}
		for _, args := range printing[name] {
			line := append(strings.Fields(name)[1:], args...)
			t.Run(strings.Join(append([]string{name}, args...), " "), func(t *testing.T) {
				t.Parallel()
				to := func(stdout *os.File) outcome {
					t.Helper()
					ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
					defer cancel()
					dir := workspace(t)
					for file, text := range stdoutFiles {
						if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					cmd := command(ctx, dir, line...)
					cmd.Stdin = strings.NewReader(stdin[name])
					if stdout != nil {
						cmd.Stdout = stdout
					}
					return runToEnd(ctx, t, cmd)
				}
				whole := to(nil)
				if whole.stdout == "" {
					t.Errorf("it prints nothing; exit code %d, standard error:\n%s", whole.code, whole.stderr)
				}
				if o := to(left); o.code != whole.code || o.stderr != whole.stderr {
					t.Errorf("unread: exit code %d, not %d; standard error:\n%s", o.code, whole.code, o.stderr)
				}
				if o := to(unwritable); o.code != exitFailed || !strings.Contains(o.stderr, "[file]") {
					t.Errorf("not written: exit code %d; standard error:\n%s", o.code, o.stderr)
				}
			})
		}
	}
}

// runnable are the command lines of a tree of commands that do something by themselves.
func runnable(cmd *cobra.Command) []string {
	var out []string
	if cmd.Runnable() {
		out = append(out, cmd.CommandPath())
	}
	for _, sub := range cmd.Commands() {
		out = append(out, runnable(sub)...)
	}
	return out
}
