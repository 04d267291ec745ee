// Package phrase writes counts, lists, quotations and suggestions for messages.
package phrase
