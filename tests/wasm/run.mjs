// node run.mjs PACKAGE CHECKOUT: program.py in the CPython of a pyodide package, with this repository under /checkout.
import { pathToFileURL } from "node:url";

const [, , folder, checkout] = process.argv;
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide();
python.mountNodeFS("/checkout", checkout);
try {
  python.runPython(`
import runpy, sys, warnings
sys.dont_write_bytecode = True
warnings.simplefilter("ignore", SyntaxWarning)
sys.path[:0] = ["/checkout", "/checkout/tests/lift", "/checkout/tests/roundtrip", "/checkout/tests/oracles"]
runpy.run_path("/checkout/tests/wasm/program.py", run_name="__main__")
`);
} catch (error) {
  // Uncaught, it would be shown with its line of the interpreter, which has a million characters.
  console.error(error.message);
  process.exitCode = 1;
}
