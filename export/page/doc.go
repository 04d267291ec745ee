// Package page has the one page that shows a run: live while it trains, and as a report after it.
//
// The page is page.html with its styles and scripts inside. It takes events: the JSON lines of
// model/train/report. A report has them in itself, a live page reads them from the relative address
// "events" (server-sent). The scripts do all the drawing, so both look the same. The order of the
// scripts is that of scripts in page.go; each is one idea:
//
//	words.js   numbers and sentences for people
//	run.js     a run as its events tell it
//	charts.js  curves, by uPlot
//	ring.js    the ring and the ranks
//	page.js    the feed of events, and the parts of the page
//
// Texts of ranks become text nodes, never HTML. The page runs no other script and has no other style than those
// that Go has hashed for its Content-Security-Policy.
package page
