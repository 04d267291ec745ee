// Package phrase writes counts, lists and quotations for the messages of the launcher.
package phrase
