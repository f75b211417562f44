<?xml version="1.0" encoding="UTF-8"?>
<!-- WSDL 1.1 and 2.0 to the terms of "WSDL 2.0: RDF Mapping" (https://www.w3.org/TR/wsdl20-rdf/).
     Components are named as WSDL 2.0, appendix A.2, and "WSDL 1.1 Element Identifiers" say.
     docs/XML.md has the table. -->
<xsl:stylesheet version="1.0"
  xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:q="https://quadrille.example/transform#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:wsdl="http://www.w3.org/ns/wsdl-rdf#"
  xmlns:one="http://schemas.xmlsoap.org/wsdl/"
  xmlns:two="http://www.w3.org/ns/wsdl"
  exclude-result-prefixes="q xsl one two">
<xsl:output method="xml" encoding="UTF-8"/>

<xsl:variable name="target" select="normalize-space(/*/@targetNamespace)"/>
<xsl:variable name="version"><xsl:choose><xsl:when test="/one:*">wsdl11</xsl:when><xsl:otherwise>wsdl</xsl:otherwise></xsl:choose></xsl:variable>

<!-- The IRI of a component in a namespace: the document's own when there is none. -->
<xsl:template name="component">
  <xsl:param name="kind"/>
  <xsl:param name="name" select="@name"/>
  <xsl:param name="space" select="$target"/>
  <xsl:attribute name="rdf:about"><xsl:call-template name="iri"><xsl:with-param name="kind" select="$kind"/><xsl:with-param name="name" select="$name"/><xsl:with-param name="space" select="$space"/></xsl:call-template></xsl:attribute>
</xsl:template>
<xsl:template name="iri">
  <xsl:param name="kind"/>
  <xsl:param name="name"/>
  <xsl:param name="space" select="$target"/>
  <xsl:variable name="base"><xsl:choose><xsl:when test="contains($space, ':')"><xsl:value-of select="$space"/></xsl:when><xsl:otherwise><xsl:value-of select="q:uri()"/></xsl:otherwise></xsl:choose></xsl:variable>
  <xsl:value-of select="q:resolve(concat(substring-before(concat($base, '#'), '#'), '#', $version, '.', $kind, '(', normalize-space($name), ')'))"/>
</xsl:template>
<!-- A property that names a component by its qualified name. -->
<xsl:template name="reference">
  <xsl:param name="as"/>
  <xsl:param name="kind"/>
  <xsl:param name="to"/>
  <xsl:variable name="prefix" select="substring-before($to, ':')"/>
  <xsl:variable name="name"><xsl:choose><xsl:when test="contains($to, ':')"><xsl:value-of select="substring-after($to, ':')"/></xsl:when><xsl:otherwise><xsl:value-of select="$to"/></xsl:otherwise></xsl:choose></xsl:variable>
  <xsl:variable name="space" select="string((namespace::*[name() = $prefix] | /*[not($prefix)]/@targetNamespace)[1])"/>
  <xsl:if test="string($name)">
    <xsl:element name="{$as}"><xsl:attribute name="rdf:resource"><xsl:call-template name="iri"><xsl:with-param name="kind" select="$kind"/><xsl:with-param name="name" select="$name"/><xsl:with-param name="space" select="$space"/></xsl:call-template></xsl:attribute></xsl:element>
  </xsl:if>
</xsl:template>
<xsl:template name="label">
  <xsl:if test="normalize-space(@name)"><rdfs:label><xsl:value-of select="normalize-space(@name)"/></rdfs:label></xsl:if>
  <xsl:for-each select="one:documentation | two:documentation"><xsl:if test="normalize-space(.)"><rdfs:comment><xsl:value-of select="normalize-space(.)"/></rdfs:comment></xsl:if></xsl:for-each>
</xsl:template>

<xsl:template match="/">
  <rdf:RDF>
    <wsdl:Description rdf:about="{q:uri()}">
      <xsl:for-each select="/*"><xsl:call-template name="label"/></xsl:for-each>
      <xsl:for-each select="/*/one:import/@location | /*/two:import/@location | /*/two:include/@location"><xsl:if test="q:resolve(string(.))"><rdfs:seeAlso rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:for-each>
      <xsl:for-each select="/*/one:portType | /*/two:interface"><wsdl:interface><xsl:apply-templates select="."/></wsdl:interface></xsl:for-each>
      <xsl:for-each select="/*/one:binding | /*/two:binding"><wsdl:binding><xsl:apply-templates select="."/></wsdl:binding></xsl:for-each>
      <xsl:for-each select="/*/one:service | /*/two:service"><wsdl:service><xsl:apply-templates select="."/></wsdl:service></xsl:for-each>
    </wsdl:Description>
  </rdf:RDF>
</xsl:template>

<xsl:template match="one:portType | two:interface">
  <xsl:variable name="kind" select="local-name()"/>
  <wsdl:Interface>
    <xsl:call-template name="component"><xsl:with-param name="kind" select="$kind"/></xsl:call-template>
    <xsl:call-template name="label"/>
    <xsl:call-template name="reference"><xsl:with-param name="as" select="'wsdl:extends'"/><xsl:with-param name="kind" select="'interface'"/><xsl:with-param name="to" select="substring-before(concat(normalize-space(@extends), ' '), ' ')"/></xsl:call-template>
    <xsl:for-each select="one:operation | two:operation">
      <wsdl:interfaceOperation><wsdl:InterfaceOperation>
        <xsl:call-template name="component"><xsl:with-param name="kind" select="concat($kind, 'Operation')"/><xsl:with-param name="name" select="concat(../@name, '/', @name)"/></xsl:call-template>
        <xsl:call-template name="label"/>
        <xsl:if test="contains(@pattern, ':')"><wsdl:messageExchangePattern rdf:resource="{q:resolve(string(@pattern))}"/></xsl:if>
      </wsdl:InterfaceOperation></wsdl:interfaceOperation>
    </xsl:for-each>
  </wsdl:Interface>
</xsl:template>

<xsl:template match="one:binding | two:binding">
  <wsdl:Binding>
    <xsl:call-template name="component"><xsl:with-param name="kind" select="'binding'"/></xsl:call-template>
    <xsl:call-template name="label"/>
    <xsl:choose>
      <xsl:when test="self::one:*"><xsl:call-template name="reference"><xsl:with-param name="as" select="'wsdl:binds'"/><xsl:with-param name="kind" select="'portType'"/><xsl:with-param name="to" select="string(@type)"/></xsl:call-template></xsl:when>
      <xsl:otherwise><xsl:call-template name="reference"><xsl:with-param name="as" select="'wsdl:binds'"/><xsl:with-param name="kind" select="'interface'"/><xsl:with-param name="to" select="string(@interface)"/></xsl:call-template></xsl:otherwise>
    </xsl:choose>
    <xsl:for-each select="@type[contains(., '://')] | *[local-name() = 'binding']/@transport"><rdf:type rdf:resource="{q:resolve(string(.))}"/></xsl:for-each>
    <xsl:for-each select="one:operation">
      <wsdl:bindingOperation><wsdl:BindingOperation>
        <xsl:call-template name="component"><xsl:with-param name="kind" select="'bindingOperation'"/><xsl:with-param name="name" select="concat(../@name, '/', @name)"/></xsl:call-template>
        <xsl:call-template name="label"/>
      </wsdl:BindingOperation></wsdl:bindingOperation>
    </xsl:for-each>
    <xsl:for-each select="two:operation">
      <wsdl:bindingOperation><wsdl:BindingOperation>
        <xsl:call-template name="component"><xsl:with-param name="kind" select="'bindingOperation'"/><xsl:with-param name="name" select="concat(../@name, '/', substring-after(concat(substring(':', 1, not(contains(@ref, ':'))), @ref), ':'))"/></xsl:call-template>
      </wsdl:BindingOperation></wsdl:bindingOperation>
    </xsl:for-each>
  </wsdl:Binding>
</xsl:template>

<xsl:template match="one:service | two:service">
  <wsdl:Service>
    <xsl:call-template name="component"><xsl:with-param name="kind" select="'service'"/></xsl:call-template>
    <xsl:call-template name="label"/>
    <xsl:call-template name="reference"><xsl:with-param name="as" select="'wsdl:implements'"/><xsl:with-param name="kind" select="'interface'"/><xsl:with-param name="to" select="string(@interface)"/></xsl:call-template>
    <xsl:for-each select="one:port | two:endpoint">
      <wsdl:endpoint><wsdl:Endpoint>
        <xsl:call-template name="component"><xsl:with-param name="kind" select="local-name()"/><xsl:with-param name="name" select="concat(../@name, '/', @name)"/></xsl:call-template>
        <xsl:call-template name="label"/>
        <xsl:call-template name="reference"><xsl:with-param name="as" select="'wsdl:usesBinding'"/><xsl:with-param name="kind" select="'binding'"/><xsl:with-param name="to" select="string(@binding)"/></xsl:call-template>
        <xsl:for-each select="@address | *[local-name() = 'address']/@location"><xsl:if test="q:resolve(string(.))"><wsdl:address rdf:resource="{q:resolve(string(.))}"/></xsl:if></xsl:for-each>
      </wsdl:Endpoint></wsdl:endpoint>
    </xsl:for-each>
  </wsdl:Service>
</xsl:template>
</xsl:stylesheet>
