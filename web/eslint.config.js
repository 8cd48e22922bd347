import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(eslint.configs.recommended, ...tseslint.configs.strict, {
  rules: {
    "@typescript-eslint/no-non-null-assertion": "off", // the templates hold what the scripts ask for
    "no-restricted-globals": ["error", "fetch", "XMLHttpRequest", "WebSocket", "eval", "localStorage"],
    "no-restricted-properties": ["error", { property: "innerHTML", message: "Text is set as text." }],
  },
}, {
  files: ["src/studio/api.ts"], // the one place that asks the studio's own server
  rules: { "no-restricted-globals": ["error", "XMLHttpRequest", "WebSocket", "eval", "localStorage"] },
});
