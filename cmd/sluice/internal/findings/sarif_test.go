package findings

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicesql/sluice/sql/ast"
)

// Places are URI references that lead to the file, whatever its name.
func TestSARIFPlaces(t *testing.T) {
	for _, file := range []string{"a.sql", "below/a.sql", "my file.sql", "100%.sql", "a:b.sql", "w#1?.sql", "/abs/ü.sql"} {
		var b strings.Builder
		if err := Write(&b, "sarif", []Finding{{Error, &ast.Error{Pos: ast.Pos{File: file, Line: 1, Col: 1}, Msg: "m"}}}, nil); err != nil {
			t.Fatal(err)
		}
		var log sarifLog
		if err := json.Unmarshal([]byte(b.String()), &log); err != nil {
			t.Fatal(err)
		}
		text := log.Runs[0].Results[0].Locations[0].Physical.Artifact.URI
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "" || strings.TrimPrefix(u.Path, "./") != file || strings.Contains(text, " ") {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}
