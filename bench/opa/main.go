// Command opa evaluates a Rego policy over and over and says how long each evaluation took.
//
// Arguments: the policy (Rego), and its data (JSON). Each line of stdin is a request
// {"input": path, "evaluations": n}; each line of stdout answers one. The query is prepared once, and an input is parsed
// once, so that the times hold nothing but evaluation.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/version"
)

type request struct {
	Input       string `json:"input"`
	Evaluations int    `json:"evaluations"`
}

type answer struct {
	Version string `json:"version"`
	// Evaluation is what the policy said, the last time.
	Evaluation any `json:"evaluation"`
	// Milliseconds of each evaluation by the clock, and of processor time, garbage collection included.
	Wall      []float64 `json:"wall"`
	Processor []float64 `json:"processor"`
}

func main() {
	if err := serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: opa POLICY DATA")
	}
	query, err := prepare(ctx, os.Args[1], os.Args[2])
	if err != nil {
		return err
	}
	inputs := map[string]ast.Value{}
	requests := json.NewDecoder(bufio.NewReader(os.Stdin))
	answers := json.NewEncoder(os.Stdout)
	for requests.More() {
		var asked request
		if err := requests.Decode(&asked); err != nil {
			return err
		}
		if _, parsed := inputs[asked.Input]; !parsed {
			if inputs[asked.Input], err = parse(asked.Input); err != nil {
				return err
			}
		}
		answered, err := evaluate(ctx, query, inputs[asked.Input], asked.Evaluations)
		if err != nil {
			return err
		}
		if err := answers.Encode(answered); err != nil {
			return err
		}
	}
	return nil
}

func prepare(ctx context.Context, policy, data string) (rego.PreparedEvalQuery, error) {
	module, err := os.ReadFile(policy)
	if err != nil {
		return rego.PreparedEvalQuery{}, err
	}
	text, err := os.ReadFile(data)
	if err != nil {
		return rego.PreparedEvalQuery{}, err
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return rego.PreparedEvalQuery{}, err
	}
	// Data kept as OPA's own values: the fast way to read it.
	store := inmem.NewFromObjectWithOpts(document, inmem.OptReturnASTValuesOnRead(true))
	return rego.New(
		rego.Query("evaluation = data.portcullis.merge.evaluation"),
		rego.Module("merge.rego", string(module)),
		rego.Store(store),
	).PrepareForEval(ctx)
}

func parse(path string) (ast.Value, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ast.ValueFromReader(bufio.NewReader(file))
}

func evaluate(ctx context.Context, query rego.PreparedEvalQuery, input ast.Value, times int) (answer, error) {
	result := answer{Version: version.Version}
	for range times {
		start, used := time.Now(), processorTime()
		set, err := query.Eval(ctx, rego.EvalParsedInput(input))
		wall, cpu := time.Since(start), processorTime()-used
		if err != nil {
			return answer{}, err
		}
		if len(set) != 1 {
			return answer{}, fmt.Errorf("the policy gave %d results", len(set))
		}
		result.Evaluation = set[0].Bindings["evaluation"]
		result.Wall = append(result.Wall, milliseconds(wall))
		result.Processor = append(result.Processor, milliseconds(cpu))
	}
	return result, nil
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1e6
}
