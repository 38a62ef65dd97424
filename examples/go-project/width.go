// Package width measures texts as people see them.
package width

import "github.com/rivo/uniseg"

// Characters answers how many characters a reader sees, however many code points each of them is made of.
func Characters(text string) int {
	return uniseg.GraphemeClusterCount(text)
}
