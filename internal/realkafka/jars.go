package realkafka

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Version is the version of Apache Kafka that is started.
const Version = "4.4.0"

const (
	log4jVersion = "2.25.5"
	// copyGoal is pinned: Maven's own choice of a plugin version depends on the
	// version of Maven.
	copyGoal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
)

//go:embed pom.xml
var pomTemplate string

// UnavailableError says that a server cannot be had on this machine: a program is
// missing or the jars cannot be fetched. A server that is there and fails to
// start is another kind of error.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return "what this needs is not here: " + e.Reason }

// Java finds the java of JAVA_HOME, or else of PATH.
func Java() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if p, err := exec.LookPath(filepath.Join(home, "bin", "java")); err == nil {
			return p, nil
		}
	}
	p, err := exec.LookPath("java")
	if err != nil {
		return "", &UnavailableError{"java is not on PATH; install a Java runtime, 17 or later"}
	}
	return p, nil
}

// cacheDir is where what is fetched under a name is kept.
func cacheDir(name string) string {
	base, err := os.UserCacheDir()
	if err != nil { // no home directory, as in some build environments
		base = os.TempDir()
	}
	return filepath.Join(base, "sluice", name)
}

// jars returns the folder that holds the broker's jars.
func jars(ctx context.Context) (string, error) {
	pom := strings.NewReplacer("@KAFKA_VERSION@", Version, "@LOG4J_VERSION@", log4jVersion).Replace(pomTemplate)
	return Jars(ctx, "kafka-"+Version, pom)
}

// Jars returns the folder of the jars that a pom asks for at run time, fetching them
// by Maven into the user's cache, under the given name, if they are not there yet.
// Several processes may call it at once.
func Jars(ctx context.Context, name, pom string) (string, error) {
	return fetchJars(ctx, cacheDir(name), pom, runMaven)
}

// fetchJars fills dir/libs by calling fetch once, whatever the number of
// processes that ask for it.
func fetchJars(ctx context.Context, dir, pomText string, fetch func(ctx context.Context, pom, libs string) error) (string, error) {
	libs := filepath.Join(dir, "libs")
	if exists(libs) {
		return libs, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("folder for jars: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(libs) { // fetched by another process while this one waited
		return libs, nil
	}
	pom := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(pom, []byte(pomText), 0o644); err != nil {
		return "", fmt.Errorf("pom for jars: %w", err)
	}
	// Into another folder first: a fetch that is interrupted must not leave a
	// libs folder that looks complete.
	partial := libs + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", fmt.Errorf("folder for jars: %w", err)
	}
	if err := fetch(ctx, pom, partial); err != nil {
		return "", err
	}
	if err := os.Rename(partial, libs); err != nil {
		return "", fmt.Errorf("folder for jars: %w", err)
	}
	return libs, nil
}

func runMaven(ctx context.Context, pom, libs string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return &UnavailableError{"mvn is not on PATH; install Maven, which fetches jars once"}
	}
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", pom, copyGoal,
		"-DincludeScope=runtime", "-DoutputDirectory="+libs)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return &UnavailableError{fmt.Sprintf("Maven could not fetch what %s asks for: %v\n%s", pom, err, LastLines(out.String(), 12))}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// LastLines returns the last n lines of text.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// WithoutFrames leaves out the frames of Java's stack traces: the causes, which
// stay, say what is wrong.
func WithoutFrames(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "\tat ") && !strings.HasPrefix(line, "\t...") {
			b.WriteString(line)
		}
	}
	return b.String()
}
