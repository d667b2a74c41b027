/* What Debian's libcurl.a (7.88) wants for protocols that midwatch never speaks: LDAP, RTMP, SSH, Kerberos, cookies' public
   suffixes, names that are not ASCII. Each says that it did nothing, and the libraries themselves stay out of the program. */
#define UNUSED(name) \
  long name(void) { return 0; }

UNUSED(RTMP_Alloc) UNUSED(RTMP_Close) UNUSED(RTMP_Connect1) UNUSED(RTMP_ConnectStream) UNUSED(RTMP_Free)
UNUSED(RTMP_Init) UNUSED(RTMP_Read) UNUSED(RTMP_SetBufferMS) UNUSED(RTMP_SetupURL) UNUSED(RTMP_Write)
UNUSED(ber_bvfree) UNUSED(ber_free) UNUSED(ber_memfree) UNUSED(ber_memvfree) UNUSED(ber_sockbuf_add_io)
UNUSED(gss_delete_sec_context) UNUSED(gss_display_name) UNUSED(gss_display_status) UNUSED(gss_import_name)
UNUSED(gss_init_sec_context) UNUSED(gss_inquire_context) UNUSED(gss_release_buffer) UNUSED(gss_release_name)
UNUSED(gss_unwrap) UNUSED(gss_wrap) UNUSED(ldap_abandon_ext) UNUSED(ldap_err2string)
UNUSED(ldap_free_urldesc) UNUSED(ldap_get_attribute_ber) UNUSED(ldap_get_dn_ber) UNUSED(ldap_get_option)
UNUSED(ldap_init_fd) UNUSED(ldap_memfree) UNUSED(ldap_msgfree) UNUSED(ldap_msgtype) UNUSED(ldap_parse_result)
UNUSED(ldap_parse_sasl_bind_result) UNUSED(ldap_pvt_url_scheme2proto) UNUSED(ldap_result)
UNUSED(ldap_sasl_bind) UNUSED(ldap_search_ext) UNUSED(ldap_set_option) UNUSED(ldap_start_tls)
UNUSED(ldap_unbind_ext) UNUSED(ldap_url_parse) UNUSED(libssh2_agent_connect) UNUSED(libssh2_agent_disconnect)
UNUSED(libssh2_agent_free) UNUSED(libssh2_agent_get_identity) UNUSED(libssh2_agent_init)
UNUSED(libssh2_agent_list_identities) UNUSED(libssh2_agent_userauth) UNUSED(libssh2_channel_free)
UNUSED(libssh2_channel_read_ex) UNUSED(libssh2_channel_send_eof) UNUSED(libssh2_channel_wait_closed)
UNUSED(libssh2_channel_wait_eof) UNUSED(libssh2_channel_write_ex) UNUSED(libssh2_exit)
UNUSED(libssh2_hostkey_hash) UNUSED(libssh2_init) UNUSED(libssh2_knownhost_add)
UNUSED(libssh2_knownhost_checkp) UNUSED(libssh2_knownhost_del) UNUSED(libssh2_knownhost_free)
UNUSED(libssh2_knownhost_get) UNUSED(libssh2_knownhost_init) UNUSED(libssh2_knownhost_readfile)
UNUSED(libssh2_knownhost_writefile) UNUSED(libssh2_scp_recv2) UNUSED(libssh2_scp_send64)
UNUSED(libssh2_session_abstract) UNUSED(libssh2_session_block_directions)
UNUSED(libssh2_session_callback_set) UNUSED(libssh2_session_disconnect_ex) UNUSED(libssh2_session_flag)
UNUSED(libssh2_session_free) UNUSED(libssh2_session_handshake) UNUSED(libssh2_session_hostkey)
UNUSED(libssh2_session_init_ex) UNUSED(libssh2_session_last_errno) UNUSED(libssh2_session_last_error)
UNUSED(libssh2_session_method_pref) UNUSED(libssh2_session_set_blocking) UNUSED(libssh2_sftp_close_handle)
UNUSED(libssh2_sftp_init) UNUSED(libssh2_sftp_last_error) UNUSED(libssh2_sftp_mkdir_ex)
UNUSED(libssh2_sftp_open_ex) UNUSED(libssh2_sftp_read) UNUSED(libssh2_sftp_readdir_ex)
UNUSED(libssh2_sftp_rename_ex) UNUSED(libssh2_sftp_rmdir_ex) UNUSED(libssh2_sftp_seek64)
UNUSED(libssh2_sftp_shutdown) UNUSED(libssh2_sftp_stat_ex) UNUSED(libssh2_sftp_statvfs)
UNUSED(libssh2_sftp_symlink_ex) UNUSED(libssh2_sftp_unlink_ex) UNUSED(libssh2_sftp_write)
UNUSED(libssh2_userauth_authenticated) UNUSED(libssh2_userauth_keyboard_interactive_ex)
UNUSED(libssh2_userauth_list) UNUSED(libssh2_userauth_password_ex)
UNUSED(libssh2_userauth_publickey_fromfile_ex) UNUSED(libssh2_version) UNUSED(psl_builtin) UNUSED(psl_free)
UNUSED(psl_get_version) UNUSED(psl_is_cookie_domain_acceptable) UNUSED(psl_latest)

/* Asked at the start, and for each host name that is not ASCII: there is no such translation here (-1 is no success). */
const char* idn2_check_version(const char* wanted) { return (void)wanted, (const char*)0; }
int idn2_lookup_ul(const char* name, char** out, int flags) { return (void)name, (void)out, (void)flags, -1; }
void idn2_free(void* memory) { (void)memory; }

/* Name types of GSSAPI, which are data. */
void* GSS_C_NT_HOSTBASED_SERVICE = 0;
