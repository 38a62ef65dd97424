module example.com/portcullis/go-project

go 1.22

require github.com/rivo/uniseg v0.4.7
