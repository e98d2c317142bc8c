// Builds the page into one file, build/web/report.html: script and style inline, and a content security policy that
// lets nothing else run and nothing be fetched.
import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";

/** Moves the built script and style into the page and drops them as files. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      for (const [name, output] of Object.entries(bundle)) {
        if (output.type === "chunk") script += output.code;
        else if (name.endsWith(".css")) style += String(output.source);
        else continue;
        delete bundle[name];
      }
      const page = Object.values(bundle).find((output) => output.fileName === "report.html");
      if (page?.type !== "asset") this.error("report.html is not in the bundle");
      // A minified script has these only in strings and regular expressions, where `\x3c` means the same.
      script = script.trim().replace(/<(?=\/script|!--)/gi, "\\x3c");
      const hash = createHash("sha256").update(script).digest("base64");
      const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`;
      page.source = String(page.source)
        .replace(/\s*<script[^>]* src=.*?<\/script>/s, "")
        .replace(/\s*<link rel="stylesheet".*?>/s, "")
        .replace(
          "</head>",
          () =>
            `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style.trim()}</style>\n</head>`,
        )
        .replace("</body>", () => `<script>${script}</script>\n</body>`);
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  // The tests' server, because a machine may have no name for its own loopback.
  server: { host: "127.0.0.1" },
  build: {
    outDir: "../build/web",
    emptyOutDir: true,
    target: "es2021",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: { input: "report.html", output: { format: "iife" } },
  },
});
