"""Facts about Codex. It tells its MCP servers nothing about the session when it starts them, only in each call."""

from ramet.vendors.contract.vendor_facts import Facts

DIRECTIVE_FILE = "AGENTS.md"

FACTS = Facts(
    title="Codex",
    passed_variables=("OPENAI_*", "CODEX_*", "AZURE_*", "OPENROUTER_*", "AWS_*"),
    session_variables=("CODEX_THREAD_ID", "CODEX_SESSION_ID"),
    call_session_field="sessionId",
    own_variables=frozenset(
        {
            "CODEX_CI",
            "CODEX_PERMISSION_PROFILE",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "CODEX_SESSION_ID",
            "CODEX_THREAD_ID",
            "CODEX_TOOL_CALL_ID",
        }
    ),
    directive_file=DIRECTIVE_FILE,
    settings_folder=".codex",
    permission_mode="workspace-write",
    freedoms={"read-only": 0, "workspace-write": 2, "danger-full-access": 3},
    resume_arguments=("resume",),
)
