package repl

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFileName(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for arg, want := range map[string]string{
		"": "", "a.sql": "a.sql", "two words.sql": "two words.sql", "'two words.sql'": "two words.sql", "'it''s'": "it's", "'": "'", "''": "",
		"~/a.sql": "/home/me/a.sql", "'~/a b'": "/home/me/a b", "~a": "~a", "a/~/b": "a/~/b",
	} {
		if got := FileName(arg); got != want {
			t.Errorf("%q is %q, not %q", arg, got, want)
		}
	}
}

// Files are completed as they were begun, whatever signs their names have.
func TestFilesComplete(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	for _, name := range []string{"a.sql", "a[1].sql", "größe.sql", "dir/b.sql", ".hidden"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string][]string{
		"": {"a.sql", "a[1].sql", "dir/", "größe.sql"}, "a[": {"a[1].sql"}, "grö": {"größe.sql"}, "d": {"dir/"}, "dir/": {"dir/b.sql"}, "./dir/b": {"./dir/b.sql"},
		"~/a": {"~/a.sql", "~/a[1].sql"}, ".": {".hidden"}, "nowhere/x": nil, home + "/d": {home + "/dir/"},
	} {
		var got []string
		for _, f := range files(prefix) {
			got = append(got, f.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", prefix, got, want)
		}
	}
}
