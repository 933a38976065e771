package realdebezium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicesql/sluice/internal/realkafka"
)

const (
	startPatience = time.Minute
	stopPatience  = 15 * time.Second
	// account is the database's superuser, and the system's user that runs it where the test is root's: PostgreSQL
	// refuses root.
	account = "postgres"
)

// Postgres is a running PostgreSQL with logical replication, on a port of the loopback address.
type Postgres struct {
	host, port string
	bin        string
	proc       *realkafka.Process
}

// StartPostgres runs a new, empty database until the test ends. Where PostgreSQL is not installed the test is
// skipped with the reason; with CI=true it fails.
func StartPostgres(t testing.TB) *Postgres {
	t.Helper()
	p, err := startPostgres(t.Context())
	if err != nil {
		realkafka.GiveUp(t, err)
	}
	t.Cleanup(func() {
		if err := p.proc.Term(stopPatience); err != nil {
			t.Errorf("stop PostgreSQL: %v", err)
		}
	})
	return p
}

func startPostgres(ctx context.Context) (_ *Postgres, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-postgres-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	as, err := asAccount(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := append(as, filepath.Join(bin, "initdb"), "-D", data, "-U", account, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	cmd := exec.CommandContext(ctx, initdb[0], initdb[1:]...)
	cmd.Dir = dir // PostgreSQL's programs want to be able to enter it
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, realkafka.LastLines(string(out), 12))
	}
	addrs, err := realkafka.FreePorts(1)
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(addrs[0], ":")
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }() // the child has its own descriptor
	argv := append(as, filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-p", port, "-h", host,
		"-c", "wal_level=logical", "-c", "fsync=off", "-c", "timezone=UTC")
	p := &Postgres{host: host, port: port, bin: bin}
	if p.proc, err = realkafka.StartProcess(argv, logFile, dir); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(startPatience); ; time.Sleep(50 * time.Millisecond) {
		if _, err = p.psql(ctx, "SELECT 1"); err == nil {
			return p, nil
		}
		if p.proc.Exited() || time.Now().After(deadline) {
			text, _ := os.ReadFile(logFile.Name())
			return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w\n%s", err, realkafka.LastLines(string(text), 12)), p.proc.Kill())
		}
	}
}

// programs is the folder of PostgreSQL's programs: on PATH, or where Debian puts those of a server.
func programs() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", &realkafka.UnavailableError{Reason: "there is no PostgreSQL (initdb); install Debian's package postgresql"}
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// asAccount is what runs a program as a user that PostgreSQL accepts, who is given the folder: nothing, unless this
// process is root's.
func asAccount(dir string) ([]string, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		return nil, &realkafka.UnavailableError{Reason: "PostgreSQL does not run as root, and there is no user " + account}
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return nil, &realkafka.UnavailableError{Reason: "PostgreSQL does not run as root, and there is no setpriv (util-linux)"}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return []string{setpriv, "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups"}, nil
}

// Query runs SQL and returns the rows of its last statement: lines of unaligned cells, parted by |.
func (p *Postgres) Query(t testing.TB, sql string) []string {
	t.Helper()
	out, err := p.psql(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	if out = strings.TrimSuffix(out, "\n"); out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

func (p *Postgres) psql(ctx context.Context, sql string) (string, error) {
	cmd := p.command(ctx, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-P", "null=<nil>", "-f", "-")
	cmd.Stdin = strings.NewReader(sql)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, stderr.String())
	}
	return string(out), nil
}

// Bench runs pgbench with a script of its own: so many clients at once, so many transactions each. A transaction
// that fails by a deadlock is tried again; any other failure fails the test.
func (p *Postgres) Bench(t testing.TB, script string, clients, transactions int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command(t.Context(), "pgbench", "-n", "-f", file, "-c", strconv.Itoa(clients), "-j", "1", "-t", strconv.Itoa(transactions), "--max-tries=100", "--random-seed=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("actually processed: %d/%[1]d", clients*transactions)) {
		t.Fatalf("pgbench: %v\n%s", err, out)
	}
}

func (p *Postgres) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, program), args...)
	cmd.Env = []string{"PGHOST=" + p.host, "PGPORT=" + p.port, "PGUSER=" + account, "PGDATABASE=" + account, "PATH=" + os.Getenv("PATH"), "PGCONNECT_TIMEOUT=5"}
	return cmd
}
