package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"strings"
)

//go:embed page.html *.css *.js uplot/*.js uplot/*.css
var files embed.FS

// The styles and the scripts of the page, in their order. uPlot is as its authors released it; the test of its checksum
// has the version.
var (
	styles  = []string{"uplot/uPlot.min.css", "page.css"}
	scripts = []string{"uplot/uPlot.iife.min.js", "words.js", "run.js", "charts.js", "ring.js", "page.js"}
)

// connect is the part of the policy that lets a live page read its events. The script takes it out of a report that it
// saves.
const connect = "connect-src 'self'; "

// Live returns the page that reads its events from the server, and the Content-Security-Policy for the header of the
// answer.
func Live() (html []byte, policy string) {
	text, policy := assemble(nil, connect)
	return []byte(text), policy
}

// assemble returns the page around blocks of data, and its policy.
func assemble(blocks []string, connect string) (html, policy string) {
	policy = "default-src 'none'; " + connect + "img-src data:; base-uri 'none'; form-action 'none'; script-src" +
		hashes(scripts) + "; style-src" + hashes(styles)
	html = strings.NewReplacer(
		"{{policy}}", policy,
		"{{styles}}", elements("style", styles),
		"{{runs}}", strings.Join(blocks, ""),
		"{{scripts}}", elements("script", scripts),
	).Replace(file("page.html"))
	return html, policy + "; frame-ancestors 'none'" // which a meta element must not have
}

// elements returns an HTML element around each file.
func elements(tag string, names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("<" + tag + ">" + file(name) + "</" + tag + ">\n")
	}
	return b.String()
}

// hashes returns the sources of a policy that allow these files and nothing else.
func hashes(names []string) string {
	var b strings.Builder
	for _, name := range names {
		sum := sha256.Sum256([]byte(file(name)))
		b.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	}
	return b.String()
}

// file returns an embedded file.
func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("page: a file is not embedded")
	}
	return string(text)
}
