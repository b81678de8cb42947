"""Facts about Claude Code."""

from ramet.vendors.contract.vendor_facts import Facts

DIRECTIVE_FILE = "CLAUDE.md"
_SESSION = "CLAUDE_CODE_SESSION_ID"

_BEDROCK = ("AWS_*",)
_VERTEX = ("GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_REGION_*", "GCLOUD_PROJECT")
_FOUNDRY = ("AZURE_*",)

FACTS = Facts(
    title="Claude Code",
    passed_variables=("ANTHROPIC_*", "CLAUDE_*", *_BEDROCK, *_VERTEX, *_FOUNDRY),
    session_variables=(_SESSION,),
    server_session_variable=_SESSION,
    own_variables=frozenset(
        {
            _SESSION,
            "CLAUDECODE",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_EXECPATH",
            "CLAUDE_CODE_MESSAGING_SOCKET",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_CODE_SESSION_ATTENDED",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_EFFORT",
            "CLAUDE_ENV_FILE",
            "CLAUDE_PID",
            "CLAUDE_PROJECT_DIR",
        }
    ),
    directive_file=DIRECTIVE_FILE,
    settings_folder=".claude",
    skill_folder=".claude/skills",
    permission_mode="acceptEdits",
    freedoms={"plan": 0, "default": 1, "dontAsk": 1, "acceptEdits": 2, "auto": 2, "bypassPermissions": 3},
    resume_arguments=("--resume",),
    shows_status_line=True,
)
